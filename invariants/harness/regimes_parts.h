// What a drawn case is made of; regimes.cpp puts it together.
#pragma once

#include <span>
#include <string>
#include <vector>

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

// Conventions, stream and calls of a case of subject recurrent whose shape stands.
void draw_batches(Case& c, Rng& rng);

struct Regime {
  std::string name;
  bool (*holds)(const Case&);
};
std::vector<Regime> regimes_of_batches();

// Values of a + dt_bias around which gates change their form, or leave float32's range.
std::span<const float> gate_edges();

}  // namespace gdn
