// Random cases over odd shapes: what two engines of one kernel source must agree on bit for bit.
#pragma once

#include <cstdint>
#include <string>

#include "reference/case.h"

namespace gdn::gpu {

// Case number `index` of a seed: most are layers through every kind of call, every eighth is an
// operator, the decoder or the recurrence on its own. Always valid.
Case drawn_case(uint64_t seed, int64_t index);

// A layer of the shape through step, run, forward and export, every tensor read after each.
Case layer_case(const Shape& shape, Weights weights, uint64_t seed);

// The call with every tensor read after it.
Call observed(Call call);

// "layer, q4, q8_0": what a table counts a case under.
std::string kind_of(const Case& c);

}  // namespace gdn::gpu
