// Sums of float32 products that are rounded in one direction: bit for bit, where the contract says
// in which order they are taken.
#pragma once

#include <optional>
#include <vector>

#include "ci/triage/evidence.h"

namespace gdn {

enum class Direction : unsigned char { down, up, zero };

// Nothing unless the contract's order is one serial sum, not fused, of float32 activations.
std::optional<std::vector<float>> directed_product(const Matrix& w, const std::vector<float>& x,
                                                   const OperatorRun& run, Direction direction);

}  // namespace gdn
