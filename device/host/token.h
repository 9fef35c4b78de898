// The operators of one token as launches on device addresses. step, run, forward, apply and
// recurrent all queue these. Each throws Failed where its launch is refused.
#pragma once

#include <array>
#include <cstdint>

#include "device/gdn.h"
#include "device/host/memory.h"
#include "device/host/sizes.h"

namespace gdn::host {

// The tensors of one token that are not state, each an allocation of its own; V lies within CONV.
class TokenTensors {
 public:
  TokenTensors() = default;
  TokenTensors(DeviceMemory& memory, const Sizes& sizes);

  float* at(gdn_tensor tensor) const;
  // Copies of all of them within the device.
  static Status copy(Backend& backend, const TokenTensors& to, const TokenTensors& from);

 private:
  std::array<DeviceArray<float>, GDN_S> arrays_;
  int64_t v_begins_ = 0;
};

// Weights of a projection, float32 rows or 4-bit tiles; the other is null.
struct Matrix {
  int64_t rows, cols;
  const float* f32;
  const uint8_t* q4;
};

struct DeltaRuleCall {
  const gdn_shape& shape;
  const float *q, *k, *v, *g, *gk, *beta;  // g or gk may be null
  float *S, *o;
  bool head_map_tiled = false;
  bool g_is_linear = false;
};

// In a layer, more tiles are asked for ahead of x.
void queue_projection(Backend& backend, const Matrix& w, const float* x, float* y,
                      bool in_layer = false);
// Both of x, in one launch where both have tiles in whole pairs.
struct InProjCall {
  Matrix qkv, z;
  const float* x;
  float *y_qkv, *y_z;
};
void queue_in_proj(Backend& backend, const InProjCall& call);
void queue_q8_activations(Backend& backend, const float* x, int64_t count, float* y);
void queue_gates(Backend& backend, int64_t count, const float* a, const float* b,
                 const float* A_log, const float* dt_bias, float* beta, float* g);
void queue_conv(Backend& backend, int64_t channels, int64_t taps, const float* x,
                const float* weight, float* history, float* y);
struct QkNormCall {
  int64_t heads, head_dim;
  float eps, q_scale;
  const float *q, *k;
  float *q_normed, *k_normed;
  float norm_min = 0;  // x / max(norm, this)
};
void queue_qk_norm(Backend& backend, const QkNormCall& call);
// conv, gates and qk_norm of a token in one launch; q and k are the conv's first channels. What
// writes x must have been waited for by the launch before.
struct ConvGatesNormCall {
  const gdn_shape& shape;
  const float *qkv, *conv_weight, *x, *b_weight, *a_weight, *A_log, *dt_bias;
  float *history, *conv, *b, *a, *beta, *g, *decay, *q_normed, *k_normed;
};
void queue_conv_gates_norm(Backend& backend, const ConvGatesNormCall& call);
float q_scale_of(int64_t head_k_dim);  // 1 / sqrt(kd) as the layer scales q
void queue_delta_rule(Backend& backend, const DeltaRuleCall& call);
void queue_gated_norm(Backend& backend, const gdn_shape& shape, const float* o, const float* z,
                      const float* w, float* y);
// Both, in one launch where a block can have a whole head.
void queue_delta_rule_norm(Backend& backend, const DeltaRuleCall& call, const float* z,
                           const float* w, float* y);
void queue_dequant(Backend& backend, int64_t rows, int64_t cols, const uint8_t* tiles, float* out);

// A view [n0][n1][n2] into a buffer, read into contiguous float32 or written from it.
struct StridedArray {
  gdn_format format;
  unsigned char* data;  // of the buffer
  int64_t offset;       // in elements
  std::array<int64_t, 3> extents, strides;
};
// to = view * factor, widened exactly first.
void queue_gather(Backend& backend, const StridedArray& view, float factor, float* to);

// One sequence of a call of recurrent, as the kernel takes it.
struct SequenceOfCall {
  int64_t first_token, tokens;
  int64_t start;  // a slot, or one of the two below
  int64_t index;
};
inline constexpr int64_t sequence_from_zero = -1;
inline constexpr int64_t sequence_is_zeroed = -2;  // it is padding: o alone is written, as 0

// States in a buffer: element (slot, head, row, column), whatever the layout.
struct StateArray {
  gdn_format format;
  unsigned char* data;
  int64_t offset;
  int64_t slot, head, row, column;
};

struct RecurrentCall {
  const gdn_shape& shape;
  const float *q, *k, *v, *g, *gk, *beta;  // of all tokens; g or gk may be null
  StridedArray o;                          // [tokens][v_heads][vd]
  float o_factor;
  StateArray state, snapshots;
  float* work;  // recurrent_work_count floats
  const SequenceOfCall* sequences;
  int64_t num_sequences;
  const int64_t* store;
  int64_t snapshots_kept, sequences_of_call;
  bool head_map_tiled, g_is_linear;
};
// Working memory that the kernel needs for one head of a state.
int64_t recurrent_work_count(int64_t head_k_dim, int64_t head_v_dim);
// One launch: it writes all outputs or, where it is refused, none.
void queue_recurrent(Backend& backend, const RecurrentCall& call);

}  // namespace gdn::host
