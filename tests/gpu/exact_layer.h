// A layer's exact outputs where its inputs are themselves exact numbers of more digits than
// float32: a link of a chain of layers.
#pragma once

#include <vector>

#include "reference/layer.h"

namespace gdn::gpu {

// h and the result: [tokens][hidden_size], as doubles.
std::vector<std::vector<double>> exact_outputs(const LayerWeights& weights, const Shape& shape,
                                               const std::vector<std::vector<double>>& h);

}  // namespace gdn::gpu
