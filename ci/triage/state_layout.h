// A state whose memory is taken for the other layout than it has.
#pragma once

#include "ci/triage/right_of.h"

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

// What a delta rule gives that reads the state as [vd][kd] and writes it so.
inline FaultyArrays right_of_transposed(const Evidence& at, const OperatorRun& run) {
  Evidence other = at;
  for (auto* arrays : {&other.fed, &other.gave}) {
    const auto S = arrays->find("S");
    if (S != arrays->end()) S->second = taken_as_vk(S->second, run.shape);
  }
  FaultyArrays right = right_of(other, run);
  Bounded& S = right["S"];
  S.value = put_as_vk(S.value, run.shape);
  if (!S.bound.empty()) S.bound = put_as_vk(S.bound, run.shape);
  return right;
}

}  // namespace gdn
