// The twin's construction, refusals, and one token through a layer.
#include "device/twin/engine.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace gdn::twin {

TokenTensors::TokenTensors(Memory& memory, const Sizes& sizes) {
  int64_t total = 0;
  for (int t = 0; t < GDN_S; ++t) {
    if (t != GDN_V && !add(total, sizes.tensor[t], &total)) throw std::bad_alloc();
  }
  storage_ = Array<float>(memory, total);
  float* at = storage_.data();
  for (int t = 0; t < GDN_S; ++t) {
    if (t == GDN_V) continue;
    start_[t] = at;
    at += sizes.tensor[t];
  }
  start_[GDN_V] = start_[GDN_CONV] + 2 * sizes.k_dim;
}

Engine::Engine(const gdn_shape& shape, const Sizes& sizes, const gdn_options& options,
               const TwinOperators& operators)
    : gate_(gate_of(options)),
      memory_(gate_),
      shape_(shape),
      sizes_(sizes),
      observe_(options.observe != 0),
      q8_activations_(options.q8_activations != 0),
      snapshots_max_(options.snapshots),
      operators_(operators),
      layers_(&memory_),
      pool_(memory_),
      buffers_(&memory_),
      snapshots_(&memory_) {
  if (static_cast<uint64_t>(shape.num_layers) > layers_.max_size()) throw std::bad_alloc();
  layers_.reserve(static_cast<size_t>(shape.num_layers));
  for (int64_t l = 0; l < shape.num_layers; ++l) {
    Layer& layer = layers_.emplace_back();
    layer.state = Array<float>(memory_, sizes_.tensor[GDN_S]);
    layer.history = Array<float>(memory_, sizes_.tensor[GDN_HIST]);
    if (observe_) layer.tensors = TokenTensors(memory_, sizes_);
    zero_state(layer);
  }
  if (!observe_) scratch_ = TokenTensors(memory_, sizes_);
  hidden_ = Array<float>(memory_, shape_.hidden_size);
  if (q8_activations_) {
    rounded_ = Array<float>(memory_, std::max(shape_.hidden_size, sizes_.v_dim));
  }
}

gdn_status Engine::refuse(gdn_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error_, sizeof error_, format, arguments);
  va_end(arguments);
  return status;
}

gdn_status Engine::out_of_memory() {
  return refuse(GDN_OUT_OF_MEMORY, "an allocation of %" PRIu64 " bytes failed",
                memory_.refused_bytes());
}

gdn_status Engine::refuse_layer(int64_t layer) {
  return refuse(GDN_INVALID_ARGUMENT, "layer %" PRId64 " is not in 0..%" PRId64, layer,
                shape_.num_layers - 1);
}

gdn_status Engine::check_runnable(int64_t l) {
  if (!is_layer(l)) return refuse_layer(l);
  const Layer& layer = layers_[static_cast<size_t>(l)];
  if (!layer.loaded) return refuse(GDN_NOT_LOADED, "layer %" PRId64 " has no weights", l);
  if (!layer.has_f32() && !layer.is_bound()) {
    return refuse(GDN_NOT_LOADED, "layer %" PRId64 " is not bound to projections in the pool", l);
  }
  return GDN_OK;
}

void Engine::project(const Projection& w, int64_t rows, int64_t cols, const float* x, float* y) {
  if (w.q4 != nullptr) {
    operators_.project_q4(w.q4->tiles, rows, cols, x, y);
  } else {
    operators_.project_f32(w.f32.data(), rows, cols, x, y);
  }
}

void Engine::advance(Layer& layer, const float* h, float* out) {
  TokenTensors& t = observe_ ? layer.tensors : scratch_;
  const gdn_shape& s = shape_;
  const auto rounded = [&](const float* x, int64_t count) {
    if (!q8_activations_) return x;
    operators_.round_to_q8(x, count, rounded_.data());
    return static_cast<const float*>(rounded_.data());
  };

  const float* x = rounded(h, s.hidden_size);
  project(layer.qkv, sizes_.conv_dim, s.hidden_size, x, t.at(GDN_QKV));
  project(layer.z, sizes_.v_dim, s.hidden_size, x, t.at(GDN_Z));
  operators_.project_f32(layer.b.data(), s.num_v_heads, s.hidden_size, x, t.at(GDN_B));
  operators_.project_f32(layer.a.data(), s.num_v_heads, s.hidden_size, x, t.at(GDN_A));
  operators_.gates(t.at(GDN_A), t.at(GDN_B), layer.A_log.data(), layer.dt_bias.data(),
                   s.num_v_heads, t.at(GDN_BETA), t.at(GDN_G));
  operators_.conv(t.at(GDN_QKV), layer.conv.data(), sizes_.conv_dim, s.conv_kernel,
                  layer.history.data(), t.at(GDN_CONV));
  operators_.qk_norm({.heads = s.num_k_heads,
                      .dim = s.head_k_dim,
                      .form = GDN_QK_NORM_SUM_EPS,
                      .eps = s.l2norm_eps,
                      .scale = default_q_scale(s.head_k_dim)},
                     t.at(GDN_CONV), t.at(GDN_CONV) + sizes_.k_dim, t.at(GDN_Q), t.at(GDN_K));
  operators_.delta_rule({.kh = s.num_k_heads,
                         .kd = s.head_k_dim,
                         .vh = s.num_v_heads,
                         .vd = s.head_v_dim,
                         .head_map_tiled = false,
                         .g_is_linear = false,
                         .q = t.at(GDN_Q),
                         .k = t.at(GDN_K),
                         .v = t.at(GDN_V),
                         .g = t.at(GDN_G),
                         .gk = nullptr,
                         .beta = t.at(GDN_BETA),
                         .S = layer.state.data(),
                         .o = t.at(GDN_O)});
  operators_.gated_norm({.heads = s.num_v_heads,
                         .dim = s.head_v_dim,
                         .eps = s.rms_norm_eps,
                         .o = t.at(GDN_O),
                         .z = t.at(GDN_Z),
                         .w = layer.norm.data()},
                        t.at(GDN_ONORM));
  project(layer.out, s.hidden_size, sizes_.v_dim, rounded(t.at(GDN_ONORM), sizes_.v_dim),
          t.at(GDN_OUT));
  std::memcpy(out, t.at(GDN_OUT), static_cast<size_t>(s.hidden_size) * sizeof(float));
  layer.has_token = true;
}

gdn_status Engine::step(int64_t layer, const float* h, float* out) { return run(layer, 1, h, out); }

gdn_status Engine::run(int64_t l, int64_t T, const float* h, float* out) {
  if (T < 0) return refuse(GDN_INVALID_ARGUMENT, "T = %" PRId64 " is negative", T);
  if (T > 0 && h == nullptr) return refuse(GDN_INVALID_ARGUMENT, "h is null");
  if (T > 0 && out == nullptr) return refuse(GDN_INVALID_ARGUMENT, "out is null");
  const gdn_status status = check_runnable(l);
  if (status != GDN_OK) return status;
  for (int64_t t = 0; t < T; ++t) {
    advance(layers_[static_cast<size_t>(l)], h + t * shape_.hidden_size,
            out + t * shape_.hidden_size);
  }
  return GDN_OK;
}

gdn_status Engine::forward(int64_t T, const float* h, float* out) {
  if (T < 0) return refuse(GDN_INVALID_ARGUMENT, "T = %" PRId64 " is negative", T);
  if (T > 0 && h == nullptr) return refuse(GDN_INVALID_ARGUMENT, "h is null");
  if (T > 0 && out == nullptr) return refuse(GDN_INVALID_ARGUMENT, "out is null");
  for (int64_t l = 0; l < shape_.num_layers; ++l) {
    const gdn_status status = check_runnable(l);
    if (status != GDN_OK) return status;
  }
  const size_t row_bytes = static_cast<size_t>(shape_.hidden_size) * sizeof(float);
  for (int64_t t = 0; t < T; ++t) {
    std::memcpy(hidden_.data(), h + t * shape_.hidden_size, row_bytes);
    for (Layer& layer : layers_) advance(layer, hidden_.data(), hidden_.data());
    std::memcpy(out + t * shape_.hidden_size, hidden_.data(), row_bytes);
  }
  return GDN_OK;
}

}  // namespace gdn::twin
