// The reference's operators, one after the other; bounds are left aside.
#include "tests/gpu/exact_layer.h"

#include "reference/layer_parts.h"
#include "reference/recurrence.h"

namespace gdn::gpu {
namespace {

Bounded value_of(Bounded all) {
  all.bound.clear();
  return all;
}

}  // namespace

std::vector<std::vector<double>> exact_outputs(const LayerWeights& weights, const Shape& shape,
                                               const std::vector<std::vector<double>>& h) {
  const Contract contract = torch_cpu_contract();
  LayerInputs in;
  in.shape = shape;
  in.weights = weights;
  RunningRecurrence recurrence(shape, in.dialect, contract);
  Bounded history = zeros(shape.history_count());
  std::vector<std::vector<double>> out;
  for (const std::vector<double>& row : h) {
    Bounded x;
    x.value = row;
    TokenExpectation projected = project_inputs(in, x, contract);
    const Gates both = gates(value_of(projected[Tensor::A]), value_of(projected[Tensor::B]),
                             weights.A_log, weights.dt_bias, in.dialect, contract);
    const Bounded window = window_of(history, value_of(projected[Tensor::QKV]));
    history = history_after(window, shape);
    const QkvParts parts =
        split(value_of(conv(window, weights.conv, shape.conv_dim(), contract)), shape);
    const NormedQk normed = qk_norm(parts.q, parts.k, shape, in.dialect, contract);
    TokenInputs token;
    token.q = value_of(normed.q);
    token.k = value_of(normed.k);
    token.v = parts.v;
    token.g = value_of(both.g);
    token.beta = value_of(both.beta);
    const Bounded o = value_of(recurrence.call({token}).front());
    const Bounded normed_o =
        value_of(gated_norm(o, value_of(projected[Tensor::Z]), weights.norm, shape, contract));
    out.push_back(
        project(weights.out, normed_o, in.dialect.activation, contract.out_proj, contract).value);
  }
  return out;
}

}  // namespace gdn::gpu
