// The inner loop of exact_dot: products of weights and x, and their sums, in sixteen lanes. Four
// products of a lane are added plainly, and that is added to the lane's sum by Knuth's TwoSum.
// Source: Castaldo, Whaley and Chronopoulos, Reducing floating point error in dot product using the
// superblock family of algorithms, SIAM J. Sci. Comput. 31 (2008), for the blocks.
#pragma once

#include <cstdint>

#include "reference/vector_width.h"

namespace gdn {

inline constexpr int sum_lanes = 16;
inline constexpr int products_a_block = 4;  // of one lane
inline constexpr int64_t block_elements = int64_t{sum_lanes} * products_a_block;

// Element i belongs to lane i % 16.
struct BlockedSums {
  double sum[sum_lanes] = {};         // of the blocks, each addition rounded
  double correction[sum_lanes] = {};  // what those roundings lost, summed plainly
  double magnitude[sum_lanes] = {};   // of the products
};

// `count` products w[i] x[i] more, beginning with a new block; the last block may be short.
void add_products(VectorWidth width, const float* w, const float* x, int64_t count,
                  BlockedSums& into);
void add_products(VectorWidth width, const float* w, const double* x, int64_t count,
                  BlockedSums& into);

}  // namespace gdn
