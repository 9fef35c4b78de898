// Regimes: kinds of input at which GDN engines go wrong, as the mix that random search draws from,
// and as names, so that a search can show what it has covered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// A case of the default mix; always valid, and its numbers can be made.
Case draw(Rng& rng);
// What the default mix promises, in per cent of its cases at least.
inline constexpr int64_t large_states_percent = 10;  // kd vd >= large_state
inline constexpr int64_t long_streams_percent = 10;  // tokens >= long_stream_tokens
inline constexpr int64_t long_horizons_percent = 5;  // horizon_tokens >= long_horizon_tokens
inline constexpr int64_t large_state = 64 * 64;
inline constexpr int64_t long_stream_tokens = 64;
inline constexpr int64_t long_horizon_tokens = 1000;

// The case of this number in the search of this seed, whoever draws it and in whatever order.
Case draw_case(uint64_t seed, uint64_t index);

// The names of the regimes that a case lies in, by the case alone; sorted as in all_regimes.
std::vector<std::string> regimes_of(const Case& c);
std::vector<std::string> all_regimes();

}  // namespace gdn
