// Slices, windows and narrow stores between the operators of a layer; no formula of its own.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "reference/layer_parts.h"

#include <algorithm>
#include <cmath>

#include "reference/formats.h"

namespace gdn {

Bounded as_read_later(Bounded result) {
  result = carried(std::move(result));
  if (result.stored == Format::f32) return result;
  result.bound.resize(result.size(), 0.0);
  for (size_t i = 0; i < result.size(); ++i) {
    const double value = result.value[i];
    const double bound = result.bound[i];
    if (!std::isfinite(value) || !std::isfinite(bound)) continue;
    // RN is monotonic: the engine's number lies between those that the interval's ends round to.
    // The ends and the differences are each rounded once, which bound_slack covers.
    const double low = round_to(result.stored, value - bound * bound_slack);
    const double high = round_to(result.stored, value + bound * bound_slack);
    result.bound[i] = std::max(std::abs(low - value), std::abs(high - value)) * bound_slack;
  }
  result.stored = Format::f32;
  return result;
}

QkvParts split(const Bounded& conv, const Shape& shape) {
  const auto k_dim = static_cast<size_t>(shape.k_dim());
  const auto v_dim = static_cast<size_t>(shape.v_dim());
  return {slice(conv, 0, k_dim), slice(conv, k_dim, k_dim), slice(conv, 2 * k_dim, v_dim)};
}

Bounded window_of(const Bounded& history, const Bounded& qkv) {
  Bounded window = history;
  window.value.insert(window.value.end(), qkv.value.begin(), qkv.value.end());
  if (history.bound.empty() && qkv.bound.empty()) return window;
  window.bound.resize(history.size(), 0.0);
  for (size_t i = 0; i < qkv.size(); ++i) window.bound.push_back(qkv.bound_of(i));
  return window;
}

Bounded history_after(const Bounded& window, const Shape& shape) {
  return slice(window, static_cast<size_t>(shape.conv_dim()),
               static_cast<size_t>(shape.history_count()));
}

Bounded zeros(int64_t count) {
  Bounded result;
  result.value.assign(static_cast<size_t>(count), 0.0);
  return result;
}

TokenExpectation project_inputs(const LayerInputs& inputs, const Bounded& h,
                                const Contract& contract) {
  const auto project_by = [&](const Matrix& w) {
    return project(w, h, inputs.dialect.activation, contract.in_proj, contract);
  };
  const LayerWeights& w = inputs.weights;
  TokenExpectation want;
  want[Tensor::QKV] = project_by(w.qkv);
  want[Tensor::Z] = project_by(w.z);
  want[Tensor::B] = project_by(w.b);
  want[Tensor::A] = project_by(w.a);
  return want;
}

std::vector<int64_t> calls_of(const LayerInputs& inputs) {
  if (!inputs.calls.empty()) return inputs.calls;
  return std::vector<int64_t>(inputs.h.size(), 1);
}

}  // namespace gdn
