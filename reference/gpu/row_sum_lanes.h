// The sums of four rows of 4-bit tiles, in the 32 lanes of a warp: one source for the GPU, and for
// the CPU as plain loops over lanes. A tile (formats.h) holds sixteen words of codes after its four
// scales: word i has eight codes of row i % 4, in columns 4p to 4p + 3 and 16 more, p = i / 4. Of
// each two tiles, lane i takes word i % 16 of tile i / 16.
//
// With eps = 2^-53, gamma(m) = m eps / (1 - m eps), A = sum |t_i|, t_i = w_i x_i:
// w = d code is exact (11 and 4 bits), its product with x is rounded once (or is exact, for a
// float32 x), and four products are added plainly, so that their sum b_k misses that of the t_i by
// gamma(4) of their magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
// Knuth's TwoSum turns s + b_k into its rounded sum and its exact error e_k:
//   sum b_k = s + sum e_k, exactly;   sum |e_k| <= eps m (1 + gamma(m)) (1 + gamma(4)) A,
// as each b_k lies beneath at most m additions: those of its lane and three that join the eight
// lanes of a row. Their sum c takes two additions for each of s: its error is gamma(2m) of sum
// |e_k| at most. The result fl(s + c) adds eps |result|, and in all
//   |result - sum t_i| <= eps |result| + (gamma(4) + gamma(2m) eps m (1 + gamma(m + 4))) A.
// A product of a double that is no float32 number may underflow, by half of the smallest double.
// Source: Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __FAST_MATH__
#error "compensated sums vanish under fast math"
#endif
#ifdef __CUDACC__
#define GDN_LANES __host__ __device__
#else
#define GDN_LANES
#endif

namespace gdn::lanes {

inline constexpr int warp_lanes = 32;
inline constexpr int rows_a_warp = 4;
inline constexpr int tile_words = 18;
inline constexpr int tile_columns = 32;
inline constexpr int tiles_a_step = 2;
inline constexpr int products_a_block = 4;

// Where a warp's four rows begin, and what they are multiplied by. `bound` and `digits` may be
// null.
struct Rows {
  const uint32_t* tiles;
  int64_t tiles_a_row;
  const double *x, *bound, *digits;
};

// Of some of one row's terms.
struct Sums {
  double sum = 0, correction = 0;  // of products
  double magnitude = 0;            // of |products|
  double carried = 0, digits = 0;  // of |weight| bound and |weight| digits
};

// What all rows of one x share: parts of A, and what the products may lose by underflow.
struct Roundings {
  double correction, magnitude, underflow;
};

inline Roundings roundings_of(int64_t cols, bool products_underflow) {
  const double eps = 0x1p-53;
  const auto gamma = [&](double count) { return count * eps / (1 - count * eps); };
  const double steps = std::ceil(static_cast<double>(cols) / (tile_columns * tiles_a_step));
  // Two blocks a step, and the joins.
  const double chain = 2 * steps + 3;
  Roundings r;
  r.correction = gamma(products_a_block) + gamma(2 * chain) * eps * chain * (1 + gamma(chain + 8));
  // A lane's magnitudes are added one by one. Twice as much covers the inverse.
  r.magnitude = 2 * gamma(products_a_block * chain + 8);
  r.underflow = products_underflow ? static_cast<double>(cols) * 0x1p-1074 : 0;
  return r;
}

// The number that 16 bits are, exactly; an infinity or a NaN for those.
GDN_LANES inline double f16_value(uint32_t bits) {
  const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size;
  if (exponent == 0) {
    size = fraction * 0x1p-24;
  } else {
    // 1023 - 15 lies between the biases of the exponents.
    const uint64_t wide = exponent == 31 ? 2047 : exponent + 1008;
    const uint64_t pattern = wide << 52 | uint64_t{fraction} << 42;
    memcpy(&size, &pattern, sizeof size);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

// s + b, whose rounding goes to the correction: Knuth's TwoSum.
GDN_LANES inline void add_exactly(double b, Sums& to) {
  const double before = to.sum;
  const double after = before + b;
  const double taken = after - before;
  to.correction += (before - (after - taken)) + (b - taken);
  to.sum = after;
}

// Four codes of a word, four bits each, that stand in every second nibble from `shift` on.
GDN_LANES inline void add_block(double scale, uint32_t codes, int shift, const Rows& rows,
                                int64_t column, Sums& to) {
  double block = 0;
  for (int i = 0; i < products_a_block; ++i) {
    const int code = static_cast<int>((codes >> (8 * i + shift) & 15) ^ 8) - 8;
    const double weight = scale * code;
    const double product = weight * rows.x[column + i];
    block = i == 0 ? product : block + product;
    to.magnitude += fabs(product);
    if (rows.bound != nullptr) to.carried += fabs(weight) * rows.bound[column + i];
    if (rows.digits != nullptr) to.digits += fabs(weight) * rows.digits[column + i];
  }
  add_exactly(block, to);
}

// All that lane `lane` takes of its row, lane % 4 of the four.
GDN_LANES inline Sums sums_of_lane(const Rows& rows, int lane) {
  Sums sums;
  const int word = lane % 16, row = word % rows_a_warp, part = word / rows_a_warp;
  for (int64_t tile = lane / 16; tile < rows.tiles_a_row; tile += tiles_a_step) {
    const uint32_t* const words = rows.tiles + tile * tile_words;
    const double scale = f16_value(words[row / 2] >> (16 * (row % 2)) & 0xFFFF);
    const uint32_t codes = words[2 + word];
    const int64_t column = tile * tile_columns + 4 * part;
    add_block(scale, codes, 0, rows, column, sums);
    add_block(scale, codes, 4, rows, column + 16, sums);
  }
  return sums;
}

// The lanes of one row are joined 16, then 8, then 4 apart: each takes what the other one has.
inline constexpr int first_join = 16, last_join = 4;

GDN_LANES inline void join(Sums& sums, const Sums& other) {
  add_exactly(other.sum, sums);
  sums.correction += other.correction;
  sums.magnitude += other.magnitude;
  sums.carried += other.carried;
  sums.digits += other.digits;
}

struct Result {
  double value, radius, sum_abs, carried, digits;
};

// `slack` covers the roundings of sums of fewer than 2^20 terms that are not negative (bound.h).
GDN_LANES inline Result result_of(const Sums& sums, const Roundings& roundings, double slack) {
  Result r;
  r.value = sums.sum + sums.correction;
  r.sum_abs = (sums.magnitude + roundings.underflow) * (1 + roundings.magnitude);
  // The factor covers the few operations here.
  r.radius = (0x1p-53 * fabs(r.value) + roundings.correction * r.sum_abs) * (1 + 0x1p-40) +
             roundings.underflow;
  r.carried = sums.carried * slack;
  r.digits = sums.digits * slack;
  return r;
}

// A warp as loops: its four rows, lane by lane.
inline void sum_four_rows(const Rows& rows, const Roundings& roundings, double slack, Result* out) {
  Sums sums[warp_lanes];
  for (int lane = 0; lane < warp_lanes; ++lane) sums[lane] = sums_of_lane(rows, lane);
  for (int apart = first_join; apart >= last_join; apart /= 2) {
    for (int lane = 0; lane < apart; ++lane) join(sums[lane], sums[lane + apart]);
  }
  for (int row = 0; row < rows_a_warp; ++row) out[row] = result_of(sums[row], roundings, slack);
}

}  // namespace gdn::lanes
