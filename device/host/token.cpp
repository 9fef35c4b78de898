// The launches of one token's operators.
#include "device/host/token.h"

#include <cinttypes>

#include "device/kernels/conv.cuh"
#include "device/kernels/conv_gates_norm.cuh"
#include "device/kernels/delta_rule_norm.cuh"
#include "device/kernels/dequant.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/in_proj_q4.cuh"
#include "device/kernels/q8_activations.cuh"
#include "device/kernels/qk_norm.cuh"
#include "device/kernels/recurrent_packed.cuh"
#include "device/kernels/strided.cuh"

namespace gdn::host {
namespace {

// Of a grid along x; along y it is 65535.
constexpr int64_t blocks_max = 0x7fffffff;
constexpr int64_t columns_max = 65535;

// Shapes count blocks in 32 bits, so what does not fit is refused before it can wrap around.
void check_fits(const char* what, int64_t value, int64_t most) {
  if (value <= most) return;
  refuse(GDN_UNSUPPORTED, "%s is %" PRId64 ", this engine serves up to %" PRId64, what, value,
         most);
}

template <class Params>
void queue(Backend& backend, KernelId kernel, const LaunchShape& shape, const Params& params) {
  must(backend.launch(kernel, shape, &params, sizeof params));
}

kernels::Storage storage_of(gdn_format format) {
  if (format == GDN_F32) return kernels::Storage::f32;
  return format == GDN_F16 ? kernels::Storage::f16 : kernels::Storage::bf16;
}

kernels::View view_of(const StridedArray& array) {
  return {.bytes = {array.data},
          .offset = array.offset,
          .s0 = array.strides[0],
          .s1 = array.strides[1],
          .s2 = array.strides[2],
          .n0 = array.extents[0],
          .n1 = array.extents[1],
          .n2 = array.extents[2],
          .storage = storage_of(array.format)};
}

int64_t count_of(const StridedArray& array) {
  return array.extents[0] * array.extents[1] * array.extents[2];
}

kernels::StatePool pool_of(const StateArray& array) {
  return {.bytes = {array.data},
          .offset = array.offset,
          .slot = array.slot,
          .head = array.head,
          .row = array.row,
          .column = array.column,
          .storage = storage_of(array.format)};
}

// Whole groups of four float32 columns, each at a multiple of 16 bytes.
bool is_packed(const StateArray& array, int64_t vd) {
  if (array.data == nullptr) return true;
  const bool groups = array.format == GDN_F32 && array.column == 1 && vd % 4 == 0;
  return groups && array.offset % 4 == 0 && array.slot % 4 == 0 && array.head % 4 == 0 &&
         array.row % 4 == 0;
}

}  // namespace

TokenTensors::TokenTensors(DeviceMemory& memory, const Sizes& sizes) : v_begins_(2 * sizes.k_dim) {
  static constexpr const char* names[GDN_S] = {"QKV", "Z", "A", "B", "BETA",  "G",  "CONV",
                                               "Q",   "K", "V", "O", "ONORM", "OUT"};
  for (size_t t = 0; t < GDN_S; ++t) {
    if (t == GDN_V) continue;
    arrays_[t] = DeviceArray<float>(memory, sizes.tensor[t], names[t]);
  }
}

float* TokenTensors::at(gdn_tensor tensor) const {
  if (tensor == GDN_V) return arrays_[GDN_CONV].data() + v_begins_;
  return arrays_[tensor].data();
}

Status TokenTensors::copy(Backend& backend, const TokenTensors& to, const TokenTensors& from) {
  for (size_t t = 0; t < GDN_S; ++t) {
    const DeviceArray<float>& source = from.arrays_[t];
    if (!source.present()) continue;
    const Status status = backend.copy(to.arrays_[t].data(), source.data(), source.bytes());
    if (!status.ok()) return status;
  }
  return {};
}

namespace {

kernels::GemvF32 gemv_f32_of(const Matrix& w, const float* x, float* y) {
  return {.w = {w.f32}, .x = {x}, .y = {y}, .rows = w.rows, .cols = w.cols};
}

kernels::GemvQ4 gemv_q4_of(const Matrix& w, const float* x, float* y, int32_t stages_before_x) {
  return {.tiles = {w.q4},
          .x = {x},
          .y = {y},
          .rows = w.rows,
          .cols = w.cols,
          .stages_before_x = stages_before_x};
}

bool is_wide(const Matrix& w) { return w.q4 != nullptr && kernels::is_gemv_q4_wide(w.q4, w.cols); }

}  // namespace

void queue_projection(Backend& backend, const Matrix& w, const float* x, float* y, bool in_layer) {
  check_fits("rows of a projection", w.rows, blocks_max);
  if (w.q4 != nullptr) {
    queue(backend, is_wide(w) ? KernelId::gemv_q4 : KernelId::gemv_q4_narrow,
          kernels::gemv_q4_shape(w.rows, w.cols),
          gemv_q4_of(w, x, y, in_layer ? kernels::q4_stages_before_x_in_layer : 1));
  } else {
    queue(backend, KernelId::gemv_f32, kernels::gemv_f32_shape(w.rows, w.cols),
          gemv_f32_of(w, x, y));
  }
}

void queue_in_proj(Backend& backend, const InProjCall& call) {
  if (!is_wide(call.qkv) || !is_wide(call.z)) {
    queue_projection(backend, call.qkv, call.x, call.y_qkv);
    return queue_projection(backend, call.z, call.x, call.y_z);
  }
  for (const Matrix& w : {call.qkv, call.z}) {
    check_fits("rows of a projection", w.rows, blocks_max);
  }
  constexpr int32_t stages_before_x = kernels::q4_stages_before_x_in_layer;
  const kernels::InProjQ4Blocks blocks = kernels::in_proj_q4_blocks(call.qkv.rows, call.z.rows);
  queue<kernels::InProjQ4>(backend, KernelId::in_proj_q4,
                           kernels::in_proj_q4_shape(blocks, call.qkv.cols),
                           {.qkv = gemv_q4_of(call.qkv, call.x, call.y_qkv, stages_before_x),
                            .z = gemv_q4_of(call.z, call.x, call.y_z, stages_before_x),
                            .qkv_blocks = static_cast<int32_t>(blocks.qkv)});
}

void queue_q8_activations(Backend& backend, const float* x, int64_t count, float* y) {
  check_fits("activations", count, blocks_max);
  queue<kernels::Q8Activations>(backend, KernelId::q8_activations,
                                kernels::q8_activations_shape(count),
                                {.x = {x}, .y = {y}, .count = count});
}

void queue_gates(Backend& backend, int64_t count, const float* a, const float* b,
                 const float* A_log, const float* dt_bias, float* beta, float* g) {
  check_fits("num_v_heads", count, blocks_max);
  queue<kernels::Gates>(backend, KernelId::gates, kernels::gates_shape(count),
                        {.a = {a},
                         .b = {b},
                         .A_log = {A_log},
                         .dt_bias = {dt_bias},
                         .beta = {beta},
                         .g = {g},
                         .count = count});
}

void queue_conv(Backend& backend, int64_t channels, int64_t taps, const float* x,
                const float* weight, float* history, float* y) {
  check_fits("conv channels", channels, blocks_max);
  queue<kernels::Conv>(backend, KernelId::conv, kernels::conv_shape(channels, taps),
                       {.x = {x},
                        .weight = {weight},
                        .history = {history},
                        .y = {y},
                        .channels = channels,
                        .taps = taps});
}

float q_scale_of(int64_t head_k_dim) { return kernels::q_scale_of(head_k_dim); }

void queue_qk_norm(Backend& backend, const QkNormCall& call) {
  check_fits("heads of qk_norm", call.heads, blocks_max / 2);
  queue<kernels::QkNorm>(backend, KernelId::qk_norm,
                         kernels::qk_norm_shape(call.heads, call.head_dim),
                         {.q = {call.q},
                          .k = {call.k},
                          .q_normed = {call.q_normed},
                          .k_normed = {call.k_normed},
                          .k_heads = call.heads,
                          .head_dim = call.head_dim,
                          .eps = call.eps,
                          .q_scale = call.q_scale,
                          .factor_max = 1.0F / call.norm_min});
}

void queue_conv_gates_norm(Backend& backend, const ConvGatesNormCall& call) {
  const gdn_shape& s = call.shape;
  const int64_t k_dim = s.num_k_heads * s.head_k_dim;
  const int64_t channels = 2 * k_dim + s.num_v_heads * s.head_v_dim;
  check_fits("conv channels", channels, blocks_max / 2);
  check_fits("heads of qk_norm", s.num_k_heads, blocks_max / 4);
  const auto small = [&](const float* weight, float* y) {
    return gemv_f32_of({s.num_v_heads, s.hidden_size, weight, nullptr}, call.x, y);
  };
  queue<kernels::ConvGatesNorm>(
      backend, KernelId::conv_gates_norm,
      kernels::conv_gates_norm_shape(channels, s.num_k_heads, s.head_k_dim, s.num_v_heads),
      {.conv = {.x = {call.qkv},
                .weight = {call.conv_weight},
                .history = {call.history},
                .y = {call.conv},
                .channels = channels,
                .taps = s.conv_kernel},
       .b = small(call.b_weight, call.b),
       .a = small(call.a_weight, call.a),
       .gates = {.a = {call.a},
                 .b = {call.b},
                 .A_log = {call.A_log},
                 .dt_bias = {call.dt_bias},
                 .beta = {call.beta},
                 .g = {call.g},
                 .count = s.num_v_heads,
                 .decay = {call.decay}},
       .norm = {.q = {call.conv},
                .k = {call.conv + k_dim},
                .q_normed = {call.q_normed},
                .k_normed = {call.k_normed},
                .k_heads = s.num_k_heads,
                .head_dim = s.head_k_dim,
                .eps = s.l2norm_eps,
                .q_scale = q_scale_of(s.head_k_dim)}});
}

namespace {

kernels::DeltaRule delta_rule_of(const DeltaRuleCall& call) {
  const gdn_shape& s = call.shape;
  return {.q = {call.q},
          .k = {call.k},
          .v = {call.v},
          .g = {call.g},
          .gk = {call.gk},
          .beta = {call.beta},
          .S = {call.S},
          .o = {call.o},
          .k_heads = s.num_k_heads,
          .kd = s.head_k_dim,
          .v_heads = s.num_v_heads,
          .vd = s.head_v_dim,
          .head_map_tiled = call.head_map_tiled ? 1 : 0,
          .g_is_linear = call.g_is_linear ? 1 : 0};
}

kernels::GatedNorm gated_norm_of(const gdn_shape& shape, const float* o, const float* z,
                                 const float* w, float* y) {
  return {.o = {o},
          .z = {z},
          .w = {w},
          .y = {y},
          .heads = shape.num_v_heads,
          .head_dim = shape.head_v_dim,
          .eps = shape.rms_norm_eps};
}

}  // namespace

void queue_delta_rule(Backend& backend, const DeltaRuleCall& call) {
  const gdn_shape& s = call.shape;
  check_fits("num_v_heads", s.num_v_heads, blocks_max);
  // A block has a slice of at least 8 columns.
  check_fits("head_v_dim", s.head_v_dim, 8 * columns_max);
  queue(backend, KernelId::delta_rule,
        kernels::delta_rule_shape(s.num_v_heads, s.head_k_dim, s.head_v_dim), delta_rule_of(call));
}

void queue_gated_norm(Backend& backend, const gdn_shape& shape, const float* o, const float* z,
                      const float* w, float* y) {
  check_fits("num_v_heads", shape.num_v_heads, blocks_max);
  queue(backend, KernelId::gated_norm,
        kernels::gated_norm_shape(shape.num_v_heads, shape.head_v_dim),
        gated_norm_of(shape, o, z, w, y));
}

void queue_delta_rule_norm(Backend& backend, const DeltaRuleCall& call, const float* z,
                           const float* w, float* y) {
  const gdn_shape& s = call.shape;
  if (!kernels::is_delta_rule_norm(s.head_k_dim, s.head_v_dim)) {
    queue_delta_rule(backend, call);
    return queue_gated_norm(backend, s, call.o, z, w, y);
  }
  check_fits("num_v_heads", s.num_v_heads, blocks_max);
  queue<kernels::DeltaRuleNorm>(
      backend, KernelId::delta_rule_norm,
      kernels::delta_rule_norm_shape(s.num_v_heads, s.head_k_dim, s.head_v_dim),
      {.rule = delta_rule_of(call), .norm = gated_norm_of(s, call.o, z, w, y)});
}

void queue_dequant(Backend& backend, int64_t rows, int64_t cols, const uint8_t* tiles, float* out) {
  queue<kernels::Dequant>(backend, KernelId::dequant, kernels::dequant_shape(rows, cols),
                          {.tiles = {tiles}, .out = {out}, .rows = rows, .cols = cols});
}

void queue_gather(Backend& backend, const StridedArray& view, float factor, float* to) {
  queue<kernels::Gather>(backend, KernelId::gather, kernels::strided_shape(count_of(view)),
                         {.view = view_of(view), .to = {to}, .factor = factor});
}

int64_t recurrent_work_count(int64_t head_k_dim, int64_t head_v_dim) {
  return head_k_dim > kernels::delta_rule_rows_at_once ? head_k_dim * head_v_dim : 0;
}

static_assert(sizeof(SequenceOfCall) == sizeof(kernels::RecurrentSequence) &&
              sequence_from_zero == kernels::recurrent_zero_state &&
              sequence_is_zeroed == kernels::recurrent_zero_output);

void queue_recurrent(Backend& backend, const RecurrentCall& call) {
  const gdn_shape& s = call.shape;
  check_fits("num_v_heads", s.num_v_heads, blocks_max);
  check_fits("sequences of that many heads", call.num_sequences, blocks_max / s.num_v_heads);
  // A block has a slice of at least 8 columns.
  check_fits("head_v_dim", s.head_v_dim, 8 * columns_max);
  const auto* sequences = reinterpret_cast<const kernels::RecurrentSequence*>(call.sequences);
  const bool packed =
      is_packed(call.state, s.head_v_dim) && is_packed(call.snapshots, s.head_v_dim);
  const kernels::Recurrent params = {.q = {call.q},
                                     .k = {call.k},
                                     .v = {call.v},
                                     .g = {call.g},
                                     .gk = {call.gk},
                                     .beta = {call.beta},
                                     .o = view_of(call.o),
                                     .o_factor = call.o_factor,
                                     .state = pool_of(call.state),
                                     .snapshots = pool_of(call.snapshots),
                                     .work = {call.work},
                                     .sequences = {sequences},
                                     .store = {call.store},
                                     .snapshots_kept = call.snapshots_kept,
                                     .sequences_of_call = call.sequences_of_call,
                                     .k_heads = s.num_k_heads,
                                     .kd = s.head_k_dim,
                                     .v_heads = s.num_v_heads,
                                     .vd = s.head_v_dim,
                                     .head_map_tiled = call.head_map_tiled ? 1 : 0,
                                     .g_is_linear = call.g_is_linear ? 1 : 0,
                                     .packed = packed ? 1 : 0};
  const int64_t heads = call.num_sequences * s.num_v_heads;
  const unsigned threads = kernels::recurrent_packed_threads(s.head_v_dim);
  if (!kernels::is_recurrent_packed(params, heads, threads)) {
    return queue(
        backend, KernelId::recurrent,
        kernels::recurrent_shape(call.num_sequences, s.num_v_heads, s.head_k_dim, s.head_v_dim),
        params);
  }
  queue(backend, KernelId::recurrent_packed,
        kernels::recurrent_packed_shape(heads, s.head_k_dim, s.head_v_dim, threads),
        kernels::recurrent_packed_params(params, heads, threads));
}

}  // namespace gdn::host
