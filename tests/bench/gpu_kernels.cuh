// One layer's kernels as the engine launches them, each by itself; and the bytes that each must
// move: every input read once, every output written once.
#pragma once

#include <string>
#include <vector>

#include "device/kernels/conv.cuh"
#include "device/kernels/delta_rule.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/q8_activations.cuh"
#include "device/kernels/qk_norm.cuh"
#include "tests/bench/gpu_arrays.h"
#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {

struct Work {
  const Shape& s;
  const LayerArrays& l;
  const TokenArrays& t;
  cudaStream_t stream;

  template <auto kernel>
  void queue(const LaunchShape& shape, const Params<kernel>& params) const {
    require(launch<kernel>(stream, shape, params), "launch");
  }
  void gemv_q4(const uint8_t* tiles, const float* x, float* y, int64_t rows, int64_t cols) const {
    queue<kernels::gemv_q4>(kernels::gemv_q4_shape(rows, cols), {{tiles}, {x}, {y}, rows, cols});
  }
  void gemv_f32(const float* w, const float* x, float* y, int64_t rows, int64_t cols) const {
    queue<kernels::gemv_f32>(kernels::gemv_f32_shape(rows, cols), {{w}, {x}, {y}, rows, cols});
  }
};

inline void queue_qkv(const Work& w) {
  w.gemv_q4(w.l.qkv, w.t.h, w.t.qkv, w.s.conv_dim(), w.s.hidden_size);
}
inline void queue_z(const Work& w) { w.gemv_q4(w.l.z, w.t.h, w.t.z, w.s.v_dim(), w.s.hidden_size); }
inline void queue_b(const Work& w) {
  w.gemv_f32(w.l.b, w.t.h, w.t.b, w.s.num_v_heads, w.s.hidden_size);
}
inline void queue_a(const Work& w) {
  w.gemv_f32(w.l.a, w.t.h, w.t.a, w.s.num_v_heads, w.s.hidden_size);
}
inline void queue_out(const Work& w) {
  w.gemv_q4(w.l.out, w.t.normed, w.t.out, w.s.hidden_size, w.s.v_dim());
}

inline void queue_gates(const Work& w) {
  w.queue<kernels::gates>(
      kernels::gates_shape(w.s.num_v_heads),
      {{w.t.a}, {w.t.b}, {w.l.A_log}, {w.l.dt_bias}, {w.t.beta}, {w.t.g}, w.s.num_v_heads});
}

inline void queue_conv(const Work& w) {
  w.queue<kernels::conv>(
      kernels::conv_shape(w.s.conv_dim(), w.s.conv_kernel),
      {{w.t.qkv}, {w.l.conv}, {w.l.history}, {w.t.conv}, w.s.conv_dim(), w.s.conv_kernel});
}

inline void queue_qk_norm(const Work& w) {
  w.queue<kernels::qk_norm>(kernels::qk_norm_shape(w.s.num_k_heads, w.s.head_k_dim),
                            {{w.t.conv},
                             {w.t.conv + w.s.k_dim()},
                             {w.t.q},
                             {w.t.k},
                             w.s.num_k_heads,
                             w.s.head_k_dim,
                             w.s.l2norm_eps,
                             kernels::q_scale_of(w.s.head_k_dim)});
}

inline void queue_delta_rule(const Work& w) {
  const Shape& s = w.s;
  w.queue<kernels::delta_rule>(kernels::delta_rule_shape(s.num_v_heads, s.head_k_dim, s.head_v_dim),
                               {{w.t.q},
                                {w.t.k},
                                {w.t.conv + 2 * s.k_dim()},
                                {w.t.g},
                                {nullptr},
                                {w.t.beta},
                                {w.l.S},
                                {w.t.o},
                                s.num_k_heads,
                                s.head_k_dim,
                                s.num_v_heads,
                                s.head_v_dim,
                                0,
                                0});
}

inline void queue_gated_norm(const Work& w) {
  w.queue<kernels::gated_norm>(kernels::gated_norm_shape(w.s.num_v_heads, w.s.head_v_dim),
                               {{w.t.o},
                                {w.t.z},
                                {w.l.norm},
                                {w.t.normed},
                                w.s.num_v_heads,
                                w.s.head_v_dim,
                                w.s.rms_norm_eps});
}

struct TimedKernel {
  std::string name;
  uint64_t bytes;
  bool is_projection;
  void (*queue)(const Work& w);
};

// In the order of a layer.
inline std::vector<TimedKernel> layer_kernels(const Shape& s) {
  const auto floats = [](int64_t count) { return static_cast<uint64_t>(count) * sizeof(float); };
  const auto projection = [&](int64_t rows, int64_t cols) {
    return tile_bytes(rows, cols) + floats(rows + cols);
  };
  const int64_t hidden = s.hidden_size;
  const int64_t heads = s.num_v_heads;
  const int64_t conv_floats = s.conv_dim() * (2 + s.conv_kernel) + 2 * s.history_count();
  const int64_t delta_floats = 2 * s.state_count() + 2 * s.k_dim() + 2 * s.v_dim() + 2 * heads;
  return {
      {"gemv_q4 qkv", projection(s.conv_dim(), hidden), true, queue_qkv},
      {"gemv_q4 z", projection(s.v_dim(), hidden), true, queue_z},
      {"gemv_f32 b", floats(heads * hidden + heads + hidden), false, queue_b},
      {"gemv_f32 a", floats(heads * hidden + heads + hidden), false, queue_a},
      {"gates", floats(6 * heads), false, queue_gates},
      {"conv", floats(conv_floats), false, queue_conv},
      {"qk_norm", floats(4 * s.k_dim()), false, queue_qk_norm},
      {"delta_rule", floats(delta_floats), false, queue_delta_rule},
      {"gated_norm", floats(3 * s.v_dim() + s.head_v_dim), false, queue_gated_norm},
      {"gemv_q4 out", projection(hidden, s.v_dim()), true, queue_out},
  };
}

}  // namespace gdn::gpu
