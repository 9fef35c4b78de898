// One loop, compiled for each width of vectors: a lane's operations are the same in all.
#include "reference/blocked_sums.h"

#include <algorithm>
#include <cstring>

#ifdef __FAST_MATH__
#error "compensated sums vanish under fast math"
#endif

namespace gdn {
namespace {

template <class Vector, class Number>
[[gnu::always_inline]] inline void fetch(const Number* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}

// Whole blocks.
template <int width, class Number>
[[gnu::always_inline]] inline void add_blocks(const float* w, const Number* x, int64_t blocks,
                                              BlockedSums& into) {
  using Doubles = typename Vectors<width>::Doubles;
  using Floats = typename Vectors<width>::Floats;
  using Bits = typename Vectors<width>::Bits;
  constexpr int parts = sum_lanes / width;
  Doubles sum[parts], correction[parts], magnitude[parts];
  std::memcpy(sum, into.sum, sizeof sum);
  std::memcpy(correction, into.correction, sizeof correction);
  std::memcpy(magnitude, into.magnitude, sizeof magnitude);
  for (; blocks > 0; --blocks, w += block_elements, x += block_elements) {
    Doubles block[parts];
#pragma GCC unroll 4
    for (int step = 0; step < products_a_block; ++step) {
#pragma GCC unroll 8
      for (int part = 0; part < parts; ++part) {
        const int at = step * sum_lanes + part * width;
        Floats weights;
        Doubles factors;
        fetch(w + at, weights);
        if constexpr (sizeof(Number) == sizeof(double)) {
          fetch(x + at, factors);
        } else {
          Floats narrow;
          fetch(x + at, narrow);
          factors = __builtin_convertvector(narrow, Doubles);
        }
        const Doubles product = __builtin_convertvector(weights, Doubles) * factors;
        block[part] = step == 0 ? product : block[part] + product;
        magnitude[part] += (Doubles)((Bits)product & INT64_MAX);
      }
    }
#pragma GCC unroll 8
    for (int part = 0; part < parts; ++part) {
      const Doubles before = sum[part];
      const Doubles after = before + block[part];
      const Doubles taken = after - before;
      correction[part] += (before - (after - taken)) + (block[part] - taken);
      sum[part] = after;
    }
  }
  std::memcpy(into.sum, sum, sizeof sum);
  std::memcpy(into.correction, correction, sizeof correction);
  std::memcpy(into.magnitude, magnitude, sizeof magnitude);
}

template <class Number>
void add_portably(const float* w, const Number* x, int64_t blocks, BlockedSums& into) {
  add_blocks<2>(w, x, blocks, into);
}
template <class Number>
GDN_VECTORS_OF_256 void add_by_256(const float* w, const Number* x, int64_t blocks,
                                   BlockedSums& into) {
  add_blocks<4>(w, x, blocks, into);
}
template <class Number>
GDN_VECTORS_OF_512 void add_by_512(const float* w, const Number* x, int64_t blocks,
                                   BlockedSums& into) {
  add_blocks<8>(w, x, blocks, into);
}

template <class Number>
void add_whole(VectorWidth width, const float* w, const Number* x, int64_t blocks,
               BlockedSums& into) {
  switch (width) {
    case VectorWidth::portable:
      return add_portably(w, x, blocks, into);
    case VectorWidth::of_256_bits:
      return add_by_256(w, x, blocks, into);
    case VectorWidth::of_512_bits:
      return add_by_512(w, x, blocks, into);
  }
}

template <class Number>
void add(VectorWidth width, const float* w, const Number* x, int64_t count, BlockedSums& into) {
  const int64_t blocks = count / block_elements;
  add_whole(width, w, x, blocks, into);
  const int64_t done = blocks * block_elements;
  if (done == count) return;
  float last_w[block_elements] = {};
  Number last_x[block_elements] = {};
  std::copy(w + done, w + count, last_w);
  std::copy(x + done, x + count, last_x);
  add_whole(width, last_w, last_x, 1, into);
}

}  // namespace

void add_products(VectorWidth width, const float* w, const float* x, int64_t count,
                  BlockedSums& into) {
  add(width, w, x, count, into);
}

void add_products(VectorWidth width, const float* w, const double* x, int64_t count,
                  BlockedSums& into) {
  add(width, w, x, count, into);
}

}  // namespace gdn
