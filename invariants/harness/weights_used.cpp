// Whose weights a layer computes with, as views; and the state that it begins with.
#include "invariants/harness/weights_used.h"

namespace gdn {

LayerWeights weights_used(const Numbers& numbers, const WeightsUsed& used, const Shape& shape) {
  const auto of = [&](int64_t whose) {
    return view_of(numbers.layers[static_cast<size_t>(whose)], shape);
  };
  LayerWeights weights = of(used.small);
  weights.qkv = of(used.large[0].weights).qkv;
  weights.z = of(used.large[1].weights).z;
  weights.out = of(used.large[2].weights).out;
  return weights;
}

bool are_plain(const WeightsUsed& used, const Case& c) {
  if (used.from_pool != (c.weights == Weights::q4)) return false;
  const LifeModel model(c);
  for (int64_t m = 0; m < 3; ++m) {
    const MatrixUsed& matrix = used.large[static_cast<size_t>(m)];
    if (!(matrix == model.own_matrix(matrix.weights, m))) return false;
  }
  return true;
}

TokenExpectation zero_state(const Shape& shape) {
  TokenExpectation zero;
  for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
    Bounded& none = zero[tensor];
    none.value.assign(static_cast<size_t>(element_count(tensor, shape)), 0.0);
  }
  return zero;
}

}  // namespace gdn
