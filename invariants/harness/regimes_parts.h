// What a drawn case is made of; regimes.cpp puts it together.
#pragma once

#include <span>

#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// True so often.
inline bool in_100(Rng& rng, int64_t percent) { return rng.range(1, 100) <= percent; }

// The recipe and the explicit numbers of a case whose subject, shape and tokens stand.
void draw_numbers(Case& c, Rng& rng);
// Calls of a layer case that is otherwise complete: its stream in pieces, or a life of its layers,
// with refused calls among them.
void give_calls(Case& c, Rng& rng);

// Values of a + dt_bias around which gates change their form, or leave float32's range.
std::span<const float> gate_edges();

}  // namespace gdn
