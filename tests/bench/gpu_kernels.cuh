// One layer's kernels as the engine launches them, each by itself; and the bytes that each must
// move: every input read once, every output written once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/kernels/conv_gates_norm.cuh"
#include "device/kernels/delta_rule_norm.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/in_proj_q4.cuh"
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
  void gemv_q4(const uint8_t* tiles, const float* x, float* y, int64_t rows, int64_t cols,
               int32_t stages_before_x = 1) const {
    queue<kernels::gemv_q4>(kernels::gemv_q4_shape(rows, cols),
                            {{tiles}, {x}, {y}, rows, cols, stages_before_x});
  }
  void gemv_f32(const float* w, const float* x, float* y, int64_t rows, int64_t cols) const {
    queue<kernels::gemv_f32>(kernels::gemv_f32_shape(rows, cols), {{w}, {x}, {y}, rows, cols});
  }
};

inline void queue_qkv(const Work& w) {
  w.gemv_q4(w.l.qkv, w.t.h, w.t.qkv, w.s.conv_dim(), w.s.hidden_size);
}
inline void queue_z(const Work& w) { w.gemv_q4(w.l.z, w.t.h, w.t.z, w.s.v_dim(), w.s.hidden_size); }
inline void queue_in_proj(const Work& w) {
  const Shape& s = w.s;
  const kernels::InProjQ4Blocks blocks = kernels::in_proj_q4_blocks(s.conv_dim(), s.v_dim());
  const int64_t hidden = s.hidden_size;
  w.queue<kernels::in_proj_q4>(
      kernels::in_proj_q4_shape(blocks, hidden),
      {{{w.l.qkv}, {w.t.h}, {w.t.qkv}, s.conv_dim(), hidden, kernels::q4_stages_before_x_in_layer},
       {{w.l.z}, {w.t.h}, {w.t.z}, s.v_dim(), hidden, kernels::q4_stages_before_x_in_layer},
       static_cast<int32_t>(blocks.qkv)});
}
inline void queue_out(const Work& w) {
  w.gemv_q4(w.l.out, w.t.normed, w.t.out, w.s.hidden_size, w.s.v_dim());
}

// As a layer has it.
inline void queue_out_of_layer(const Work& w) {
  w.gemv_q4(w.l.out, w.t.normed, w.t.out, w.s.hidden_size, w.s.v_dim(),
            kernels::q4_stages_before_x_in_layer);
}

inline void queue_conv_gates_norm(const Work& w) {
  const Shape& s = w.s;
  w.queue<kernels::conv_gates_norm>(
      kernels::conv_gates_norm_shape(s.conv_dim(), s.num_k_heads, s.head_k_dim, s.num_v_heads),
      {{{w.t.qkv}, {w.l.conv}, {w.l.history}, {w.t.conv}, s.conv_dim(), s.conv_kernel},
       {{w.l.b}, {w.t.h}, {w.t.b}, s.num_v_heads, s.hidden_size},
       {{w.l.a}, {w.t.h}, {w.t.a}, s.num_v_heads, s.hidden_size},
       {{w.t.a},
        {w.t.b},
        {w.l.A_log},
        {w.l.dt_bias},
        {w.t.beta},
        {w.t.g},
        s.num_v_heads,
        {w.t.decay}},
       {{w.t.conv},
        {w.t.conv + s.k_dim()},
        {w.t.q},
        {w.t.k},
        s.num_k_heads,
        s.head_k_dim,
        s.l2norm_eps,
        kernels::q_scale_of(s.head_k_dim)}});
}

inline void queue_delta_rule_norm(const Work& w) {
  const Shape& s = w.s;
  w.queue<kernels::delta_rule_norm>(
      kernels::delta_rule_norm_shape(s.num_v_heads, s.head_k_dim, s.head_v_dim),
      {{{w.t.q},
        {w.t.k},
        {w.t.conv + 2 * s.k_dim()},
        {w.t.decay},
        {nullptr},
        {w.t.beta},
        {w.l.S},
        {w.t.o},
        s.num_k_heads,
        s.head_k_dim,
        s.num_v_heads,
        s.head_v_dim,
        0,
        1},
       {{w.t.o}, {w.t.z}, {w.l.norm}, {w.t.normed}, s.num_v_heads, s.head_v_dim, s.rms_norm_eps}});
}

struct TimedKernel {
  std::string name;
  uint64_t bytes;
  void (*queue)(const Work& w);
};

inline uint64_t bytes_of(int64_t floats) { return static_cast<uint64_t>(floats) * sizeof(float); }
inline uint64_t projection_bytes(int64_t rows, int64_t cols) {
  return tile_bytes(rows, cols) + bytes_of(rows + cols);
}

// The three shapes of 4-bit projections, each by itself.
struct TimedProjection {
  TimedKernel kernel;
  int64_t rows, cols;
};

inline std::vector<TimedProjection> q4_projections(const Shape& s) {
  const auto timed = [](std::string name, int64_t rows, int64_t cols, void (*queue)(const Work&)) {
    const uint64_t bytes = projection_bytes(rows, cols);
    return TimedProjection{{std::move(name), bytes, queue}, rows, cols};
  };
  return {timed("gemv_q4 qkv", s.conv_dim(), s.hidden_size, queue_qkv),
          timed("gemv_q4 z", s.v_dim(), s.hidden_size, queue_z),
          timed("gemv_q4 out", s.hidden_size, s.v_dim(), queue_out)};
}

// All that a layer's projections of h read, b and a with qkv and z.
inline uint64_t in_proj_bytes(const Shape& s) {
  return projection_bytes(s.conv_dim() + s.v_dim(), s.hidden_size) +
         bytes_of(2 * s.num_v_heads * (s.hidden_size + 1));
}

// The launches of a layer, in order.
inline std::vector<TimedKernel> layer_kernels(const Shape& s) {
  const int64_t hidden = s.hidden_size;
  const int64_t heads = s.num_v_heads;
  const int64_t small_floats = 2 * heads * (hidden + 1) + hidden;
  const int64_t conv_floats = s.conv_dim() * (2 + s.conv_kernel) + 2 * s.history_count();
  const int64_t norm_and_gates_floats = 4 * s.k_dim() + 7 * heads;
  const int64_t delta_floats = 2 * s.state_count() + 2 * s.k_dim() + 2 * s.v_dim() + 2 * heads;
  return {
      {"in_proj_q4", projection_bytes(s.conv_dim() + s.v_dim(), hidden), queue_in_proj},
      {"conv_gates_norm", bytes_of(small_floats + conv_floats + norm_and_gates_floats),
       queue_conv_gates_norm},
      {"delta_rule_norm", bytes_of(delta_floats + 3 * s.v_dim() + s.head_v_dim),
       queue_delta_rule_norm},
      {"gemv_q4 out", projection_bytes(hidden, s.v_dim()), queue_out_of_layer},
  };
}

}  // namespace gdn::gpu
