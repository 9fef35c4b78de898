// Sums of float32 products that are rounded in one direction, or to fewer bits: bit for bit, where
// the contract says in which order they are taken.
#pragma once

#include <optional>
#include <vector>

#include "ci/triage/evidence.h"

namespace gdn {

// To 22 bits or bf16, each sum is rounded to float32 and then again.
enum class Direction : unsigned char { down, up, zero, nearest_of_22_bits, nearest_bf16 };

// Nothing unless the contract's order is one serial sum, not fused, of float32 activations.
std::optional<std::vector<float>> directed_product(const Matrix& w, const std::vector<float>& x,
                                                   const OperatorRun& run, Direction direction);

}  // namespace gdn
