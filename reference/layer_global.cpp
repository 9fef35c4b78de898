// The global check: every tensor of every token from weights and h alone. Each operator takes the
// exact values of the one before it together with the error that an engine can have made there.
#include <utility>

#include "reference/layer.h"
#include "reference/layer_parts.h"
#include "reference/recurrence.h"

namespace gdn {
namespace {

// What one token is before the recurrence; advances the history.
struct Prepared {
  TokenExpectation want;
  TokenInputs inputs;
};

Prepared prepare(const LayerInputs& in, const std::vector<float>& h, Bounded& history,
                 const Contract& contract) {
  Prepared out;
  TokenExpectation& want = out.want;
  want = project_inputs(in, exactly(h), contract);
  const auto read = [&](Tensor tensor) { return as_read_later(want.at(tensor)); };

  Gates both = gates(read(Tensor::A), read(Tensor::B), in.weights.A_log, in.weights.dt_bias,
                     in.dialect, contract);
  want[Tensor::BETA] = std::move(both.beta);
  want[Tensor::G] = std::move(both.g);

  const Bounded window = window_of(history, read(Tensor::QKV));
  want[Tensor::CONV] = conv(window, in.weights.conv, in.shape.conv_dim(), contract);
  history = history_after(window, in.shape);
  want[Tensor::HIST] = history;

  QkvParts parts = split(read(Tensor::CONV), in.shape);
  NormedQk normed = qk_norm(parts.q, parts.k, in.shape, in.dialect, contract);
  want[Tensor::Q] = std::move(normed.q);
  want[Tensor::K] = std::move(normed.k);
  want[Tensor::V] = std::move(parts.v);

  out.inputs.q = read(Tensor::Q);
  out.inputs.k = read(Tensor::K);
  out.inputs.v = read(Tensor::V);
  out.inputs.g = read(Tensor::G);
  out.inputs.beta = read(Tensor::BETA);
  return out;
}

void finish(const LayerInputs& in, Bounded o, const Contract& contract, TokenExpectation& want) {
  want[Tensor::O] = std::move(o);
  const auto read = [&](Tensor tensor) { return as_read_later(want.at(tensor)); };
  want[Tensor::ONORM] =
      gated_norm(read(Tensor::O), read(Tensor::Z), in.weights.norm, in.shape, contract);
  want[Tensor::OUT] = project(in.weights.out, read(Tensor::ONORM), in.dialect.activation,
                              contract.out_proj, contract);
}

}  // namespace

std::vector<TokenExpectation> expect_global(const LayerInputs& inputs, const Contract& contract) {
  RunningRecurrence running(inputs.shape, inputs.dialect, contract);
  Bounded history = zeros(inputs.shape.history_count());
  std::vector<TokenExpectation> want;
  size_t t = 0;
  for (const int64_t tokens : calls_of(inputs)) {
    std::vector<TokenInputs> call;
    for (int64_t i = 0; i < tokens; ++i, ++t) {
      Prepared token = prepare(inputs, inputs.h[t], history, contract);
      call.push_back(std::move(token.inputs));
      want.push_back(std::move(token.want));
    }
    std::vector<Bounded> outputs = running.call(call);
    const size_t first = want.size() - outputs.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
      finish(inputs, std::move(outputs[i]), contract, want[first + i]);
    }
    if (tokens > 0) want.back()[Tensor::S] = running.state();
  }
  return want;
}

}  // namespace gdn
