// The weights of a stack of layers, made as 4-bit tiles without float32 rows in between.
#pragma once

#include <cstdint>

#include "reference/case.h"

namespace gdn {

// Of one layer: a pure function of shape, seed and layer. OUT is about as large as h, layer after
// layer.
LayerNumbers stack_weights(const Shape& shape, uint64_t seed, int64_t layer);

// One token's h: independent numbers of mean square 1.
std::vector<float> stack_input(const Shape& shape, uint64_t seed, int64_t token);

}  // namespace gdn
