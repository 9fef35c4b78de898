// A partial sum over j terms lies between the sums of the j smallest and of the j largest terms;
// let V_j be the larger magnitude of the two. D_j, the most that the partial sums of a tree over
// any j of the terms can add up to, is V_j for its root and what its two subtrees can have:
//   D_1 = 0,   D_j <= V_j + max over d of (D_d + D_(j-d)),   by induction on j.
// Terms of one sign, largest first, attain it. (With the weaker U_j, the largest sum of at most j
// terms of one sign, it would be U_2 + ... + U_n.)
// The same recursion bounds the roundings, with the power of two at or below V_j in place of V_j;
// `off` is how far any a^_k + b^_k can lie from its p_k.
#include "reference/any_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "reference/vector_width.h"

#ifdef __FAST_MATH__
#error "a bound is no bound under fast math"
#endif

namespace gdn {
namespace {

double power_of_two_below(double positive) {
  if (positive < std::numeric_limits<double>::min()) {
    return positive > 0 ? std::ldexp(1.0, std::ilogb(positive)) : 0;
  }
  constexpr uint64_t sign_and_exponent = uint64_t{0xfff} << 52;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(positive) & sign_and_exponent);
}

// D_1, D_2, ... as they become known, and the same from the end down, so that D_d and D_(j-d) both
// lie in rising order of d.
class Subtrees {
 public:
  explicit Subtrees(size_t terms) : terms_(terms) {
    std::fill_n(up_, terms + spare, 0.0);
    std::fill_n(down_, terms + spare, 0.0);
  }
  void put(size_t j, double D) {
    up_[j] = D;
    down_[terms_ - j] = D;
  }
  // max over d in [1, j / 2] of D_d + D_(j-d), which no order of the comparisons changes. What a
  // whole vector reads beyond is a sum D_d + D_(j-d) as well, or smaller: D_0 and what is not known
  // yet stand as 0.
  template <int width>
  [[gnu::always_inline]] inline double best(size_t j) const {
    using Doubles = typename Vectors<width>::Doubles;
    Doubles largest = {};
    for (size_t d = 1; d <= j / 2; d += width) {
      Doubles one, other;
      std::memcpy(&one, up_ + d, sizeof one);
      std::memcpy(&other, down_ + (terms_ - j + d), sizeof other);
      const Doubles sum = one + other;
      largest = sum > largest ? sum : largest;
    }
    double most = 0;
    for (int i = 0; i < width; ++i) most = std::max(most, largest[i]);
    return most;
  }

 private:
  static constexpr size_t spare = 9;  // zeros that whole vectors may read
  size_t terms_;
  double up_[terms_in_trees_max + spare], down_[terms_in_trees_max + spare];
};

// `sorted` rising.
template <int width>
[[gnu::always_inline]] inline OfAnyTree in_trees(std::span<const double> sorted, double off) {
  const size_t count = sorted.size();
  Subtrees sums(count), roundings(count);
  OfAnyTree all{0, 0};
  double smallest = 0, largest = 0;
  for (size_t j = 1; j <= count; ++j) {
    smallest += sorted[j - 1];
    largest += sorted[count - j];
    if (j == 1) continue;
    const double size = std::max(std::fabs(smallest), std::fabs(largest));
    all = {size + sums.best<width>(j), power_of_two_below(size + off) + roundings.best<width>(j)};
    sums.put(j, all.partial_sums);
    roundings.put(j, all.roundings);
  }
  return all;
}

OfAnyTree in_trees_portably(std::span<const double> sorted, double off) {
  return in_trees<2>(sorted, off);
}
GDN_VECTORS_OF_256 OfAnyTree in_trees_by_256(std::span<const double> sorted, double off) {
  return in_trees<4>(sorted, off);
}
GDN_VECTORS_OF_512 OfAnyTree in_trees_by_512(std::span<const double> sorted, double off) {
  return in_trees<8>(sorted, off);
}

}  // namespace

OfAnyTree of_any_tree(std::span<const double> terms, double off) {
  std::vector<double> sorted(terms.begin(), terms.end());
  std::sort(sorted.begin(), sorted.end());
  const OfAnyTree trees = widest_here() == VectorWidth::of_512_bits ? in_trees_by_512(sorted, off)
                          : widest_here() == VectorWidth::of_256_bits
                              ? in_trees_by_256(sorted, off)
                              : in_trees_portably(sorted, off);
  // Each of the n - 1 values of V misses at most gamma of double (n) of sum_abs; what they add up
  // to, another. The caller allows for the first.
  const double n = static_cast<double>(terms.size());
  return {rounded_up(trees.partial_sums, n), rounded_up(trees.roundings, n)};
}

}  // namespace gdn
