// A state from one layout into the other, whatever its elements are.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/shape.h"

namespace gdn {

// The heads of a state [vh][kd][vd], each read as [vd][kd], and what was read so written back.
template <class Number>
std::vector<Number> taken_as_vk(const std::vector<Number>& S, const Shape& shape) {
  const auto kd = static_cast<size_t>(shape.head_k_dim), vd = static_cast<size_t>(shape.head_v_dim);
  std::vector<Number> other(S.size());
  for (size_t i = 0; i < S.size(); ++i) {
    const size_t head = i / (kd * vd), row = i / vd % kd, column = i % vd;
    other[i] = S[head * kd * vd + column * kd + row];
  }
  return other;
}
template <class Number>
std::vector<Number> put_as_vk(const std::vector<Number>& S, const Shape& shape) {
  const auto kd = static_cast<size_t>(shape.head_k_dim), vd = static_cast<size_t>(shape.head_v_dim);
  std::vector<Number> other(S.size());
  for (size_t i = 0; i < S.size(); ++i) {
    const size_t head = i / (kd * vd), row = i / vd % kd, column = i % vd;
    other[head * kd * vd + column * kd + row] = S[i];
  }
  return other;
}

}  // namespace gdn
