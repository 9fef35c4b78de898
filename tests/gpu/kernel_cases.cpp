// The cases: sizes are odd on purpose, so that last rows, columns and blocks are incomplete.
#include "tests/gpu/kernel_cases.h"

#include <stdexcept>

#include "device/engines/cuda.h"
#include "device/engines/simt.h"
#include "device/kernels/conv.cuh"
#include "device/kernels/delta_rule.cuh"
#include "device/kernels/dequant.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/q8_activations.cuh"
#include "device/kernels/qk_norm.cuh"
#include "device/kernels/recurrent_packed.cuh"
#include "device/kernels/strided.cuh"
#include "tests/gpu/kernel_case_numbers.h"

namespace gdn::gpu {

using host::KernelId;

KernelDevice::KernelDevice(const std::string& engine) {
  host::BackendOptions options;
  if (engine == "cuda") {
    must(host::make_cuda(options, &backend_));
  } else if (engine == "simt" || engine == "simt_checked") {
    must(engine == "simt" ? host::make_simt(options, &backend_)
                          : host::make_simt_checked(options, &backend_));
  } else {
    throw std::runtime_error("engine " + engine + " runs no kernels by themselves");
  }
}

KernelDevice::~KernelDevice() {
  for (void* const memory : held_) backend_->release(memory);
}

void KernelDevice::must(const host::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.text);
}

void* KernelDevice::allocate(uint64_t bytes) {
  void* memory = nullptr;
  must(backend_->allocate(bytes, host::Use::whole, "kernel case", &memory));
  held_.push_back(memory);
  return memory;
}

void KernelDevice::get(std::vector<float>& to, const float* from, size_t count) {
  const size_t before = to.size();
  to.resize(before + count);
  must(backend_->read(to.data() + before, from, count * sizeof(float)));
}

namespace {

std::vector<float> run_gemv_f32_of(KernelDevice& d, unsigned threads, int64_t rows, int64_t cols) {
  float* const y = d.fresh<float>(static_cast<size_t>(rows));
  d.launch<kernels::GemvF32>(
      KernelId::gemv_f32,
      kernels::gemv_f32_shape(rows, cols, size_of(threads, kernels::gemv_f32_shape(rows, cols))),
      {.w = {d.put(drawn(1, rows * cols))},
       .x = {d.put(drawn(2, cols))},
       .y = {y},
       .rows = rows,
       .cols = cols});
  std::vector<float> out;
  d.get(out, y, static_cast<size_t>(rows));
  return out;
}

std::vector<float> run_gemv_f32(KernelDevice& d, unsigned threads) {
  std::vector<float> out = run_gemv_f32_of(d, threads, 13, 1300);
  const std::vector<float> unaligned = run_gemv_f32_of(d, threads, 5, 517);
  out.insert(out.end(), unaligned.begin(), unaligned.end());
  return out;
}

std::vector<float> run_gemv_q4_of(KernelDevice& d, int64_t rows, int64_t cols) {
  float* const y = d.fresh<float>(static_cast<size_t>(rows));
  const uint8_t* const tiles = d.put(drawn_tiles(3, rows, cols));
  d.launch<kernels::GemvQ4>(
      kernels::is_gemv_q4_wide(tiles, cols) ? KernelId::gemv_q4 : KernelId::gemv_q4_narrow,
      kernels::gemv_q4_shape(rows, cols),
      {.tiles = {tiles}, .x = {d.put(drawn(4, cols))}, .y = {y}, .rows = rows, .cols = cols});
  std::vector<float> out;
  d.get(out, y, static_cast<size_t>(rows));
  return out;
}

// Copies of 8 bytes and of 16, several units a block, and more columns than are held at once.
std::vector<float> run_gemv_q4(KernelDevice& d, unsigned) {
  std::vector<float> out = run_gemv_q4_of(d, 20, 32 * 37);
  for (const auto& [rows, cols] : {std::pair{2200, 32 * 10}, {24, 32 * 226}}) {
    const std::vector<float> more = run_gemv_q4_of(d, rows, cols);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<float> run_q8_activations(KernelDevice& d, unsigned threads) {
  constexpr int64_t count = 32 * 11;
  float* const y = d.fresh<float>(count);
  d.launch<kernels::Q8Activations>(
      KernelId::q8_activations,
      kernels::q8_activations_shape(count, size_of(threads, kernels::q8_activations_shape(count))),
      {.x = {d.put(drawn(5, count))}, .y = {y}, .count = count});
  std::vector<float> out;
  d.get(out, y, count);
  return out;
}

std::vector<float> run_dequant(KernelDevice& d, unsigned threads) {
  constexpr int64_t rows = 12;
  constexpr int64_t cols = 96;
  float* const y = d.fresh<float>(rows * cols);
  d.launch<kernels::Dequant>(
      KernelId::dequant,
      kernels::dequant_shape(rows, cols, size_of(threads, kernels::dequant_shape(rows, cols))),
      {.tiles = {d.put(drawn_tiles(6, rows, cols))}, .out = {y}, .rows = rows, .cols = cols});
  std::vector<float> out;
  d.get(out, y, rows * cols);
  return out;
}

std::vector<float> run_gates(KernelDevice& d, unsigned threads) {
  constexpr int64_t count = 75;
  float* const beta = d.fresh<float>(count);
  float* const g = d.fresh<float>(count);
  d.launch<kernels::Gates>(
      KernelId::gates, kernels::gates_shape(count, size_of(threads, kernels::gates_shape(count))),
      {.a = {d.put(drawn(7, count, 40))},
       .b = {d.put(drawn(8, count, 40))},
       .A_log = {d.put(drawn(9, count, 3))},
       .dt_bias = {d.put(drawn(10, count))},
       .beta = {beta},
       .g = {g},
       .count = count});
  std::vector<float> out;
  d.get(out, beta, count);
  d.get(out, g, count);
  return out;
}

std::vector<float> run_conv(KernelDevice& d, unsigned threads) {
  std::vector<float> out;
  for (const int64_t taps : {1, 4, 11}) {
    constexpr int64_t channels = 203;
    float* const y = d.fresh<float>(channels);
    const auto history_count = static_cast<size_t>((taps - 1) * channels);
    float* const history =
        taps == 1 ? nullptr : d.put(drawn(11, static_cast<int64_t>(history_count)));
    d.launch<kernels::Conv>(
        KernelId::conv,
        kernels::conv_shape(channels, taps, size_of(threads, kernels::conv_shape(channels, taps))),
        {.x = {d.put(drawn(12, channels, 4))},
         .weight = {d.put(drawn(13, channels * taps))},
         .history = {history},
         .y = {y},
         .channels = channels,
         .taps = taps});
    d.get(out, y, channels);
    if (taps > 1) d.get(out, history, history_count);
  }
  return out;
}

std::vector<float> run_qk_norm(KernelDevice& d, unsigned threads) {
  constexpr int64_t heads = 5;
  constexpr int64_t dim = 45;
  float* const q = d.fresh<float>(heads * dim);
  float* const k = d.fresh<float>(heads * dim);
  d.launch<kernels::QkNorm>(
      KernelId::qk_norm,
      kernels::qk_norm_shape(heads, dim, size_of(threads, kernels::qk_norm_shape(heads, dim))),
      {.q = {d.put(drawn(14, heads * dim))},
       .k = {d.put(drawn(15, heads * dim))},
       .q_normed = {q},
       .k_normed = {k},
       .k_heads = heads,
       .head_dim = dim,
       .eps = 1e-6F,
       .q_scale = kernels::q_scale_of(dim)});
  std::vector<float> out;
  d.get(out, q, heads * dim);
  d.get(out, k, heads * dim);
  return out;
}

std::vector<float> run_gated_norm(KernelDevice& d, unsigned threads) {
  constexpr int64_t heads = 7;
  constexpr int64_t dim = 45;
  float* const y = d.fresh<float>(heads * dim);
  d.launch<kernels::GatedNorm>(
      KernelId::gated_norm,
      kernels::gated_norm_shape(heads, dim,
                                size_of(threads, kernels::gated_norm_shape(heads, dim))),
      {.o = {d.put(drawn(16, heads * dim))},
       .z = {d.put(drawn(17, heads * dim, 6))},
       .w = {d.put(drawn(18, dim))},
       .y = {y},
       .heads = heads,
       .head_dim = dim,
       .eps = 1e-6F});
  std::vector<float> out;
  d.get(out, y, heads * dim);
  return out;
}

std::vector<float> run_delta_rule_of(KernelDevice& d, unsigned threads, int64_t kd, int64_t vd,
                                     bool by_channel) {
  constexpr int64_t k_heads = 2;
  constexpr int64_t v_heads = 6;
  const auto state_count = static_cast<size_t>(v_heads * kd * vd);
  const auto o_count = static_cast<size_t>(v_heads * vd);
  float* const S = d.put(drawn(19, static_cast<int64_t>(state_count)));
  float* const o = d.fresh<float>(o_count);
  d.launch<kernels::DeltaRule>(
      KernelId::delta_rule,
      kernels::delta_rule_shape(v_heads, kd, vd,
                                size_of(threads, kernels::delta_rule_shape(v_heads, kd, vd))),
      {.q = {d.put(drawn(20, k_heads * kd, 0.1F))},
       .k = {d.put(drawn(21, k_heads * kd, 0.1F))},
       .v = {d.put(drawn(22, v_heads * vd))},
       .g = {d.put(drawn(23, v_heads, 0.5F))},
       .gk = {by_channel ? d.put(drawn(24, v_heads * kd, 0.5F)) : nullptr},
       .beta = {d.put(drawn(25, v_heads))},
       .S = {S},
       .o = {o},
       .k_heads = k_heads,
       .kd = kd,
       .v_heads = v_heads,
       .vd = vd,
       .head_map_tiled = by_channel ? 1 : 0,
       .g_is_linear = 0});
  std::vector<float> out;
  d.get(out, S, state_count);
  d.get(out, o, o_count);
  return out;
}

std::vector<float> run_delta_rule(KernelDevice& d, unsigned threads) {
  std::vector<float> out;
  for (const bool by_channel : {false, true}) {
    for (const int64_t kd : {37, 150}) {
      for (const int64_t vd : {30, 44}) {
        const std::vector<float> one = run_delta_rule_of(d, threads, kd, vd, by_channel);
        out.insert(out.end(), one.begin(), one.end());
      }
    }
  }
  return out;
}

kernels::View view_of(float* data) {
  return {.bytes = {reinterpret_cast<uint8_t*>(data)},
          .offset = 3,
          .s0 = 70,
          .s1 = 9,
          .s2 = 1,
          .n0 = 4,
          .n1 = 7,
          .n2 = 8,
          .storage = kernels::Storage::f32};
}
constexpr int64_t view_room = 300;
constexpr int64_t view_count = 4 * 7 * 8;

LaunchShape strided_shape(unsigned threads) {
  LaunchShape shape = kernels::strided_shape(view_count);
  shape.threads = size_of(threads, shape);
  return shape;
}

std::vector<float> run_gather(KernelDevice& d, unsigned threads) {
  float* const to = d.fresh<float>(view_count);
  d.launch<kernels::Gather>(
      KernelId::gather, strided_shape(threads),
      {.view = view_of(d.put(drawn(26, view_room))), .to = {to}, .factor = 0.3F});
  std::vector<float> out;
  d.get(out, to, view_count);
  return out;
}

// Two sequences of two and one tokens, each token stored to a slot of its own; from zero the
// second.
std::vector<float> run_recurrent_of(KernelDevice& d, unsigned threads, int64_t kd, int64_t vd) {
  constexpr int64_t heads = 2;
  constexpr int64_t tokens = 3;
  constexpr int64_t slots = 4;
  const int64_t state = heads * kd * vd;
  float* const S = d.put(drawn(26, slots * state));
  float* const o = d.fresh<float>(static_cast<size_t>(tokens * heads * vd));
  const auto bytes = [](float* numbers) {
    return global<uint8_t>{reinterpret_cast<uint8_t*>(numbers)};
  };
  const kernels::StatePool pool = {.bytes = bytes(S),
                                   .offset = 0,
                                   .slot = state,
                                   .head = kd * vd,
                                   .row = vd,
                                   .column = 1,
                                   .storage = kernels::Storage::f32};
  const bool packed = vd % 4 == 0;
  const kernels::Recurrent params = {
      .q = {d.put(drawn(27, tokens * heads * kd, 0.1F))},
      .k = {d.put(drawn(28, tokens * heads * kd, 0.1F))},
      .v = {d.put(drawn(29, tokens * heads * vd))},
      .g = {d.put(drawn(30, tokens * heads, 0.5F))},
      .gk = {nullptr},
      .beta = {d.put(drawn(31, tokens * heads))},
      .o = {bytes(o), 0, heads * vd, vd, 1, tokens, heads, vd, kernels::Storage::f32},
      .o_factor = 1,
      .state = pool,
      .snapshots = pool,
      .work = {d.fresh<float>(static_cast<size_t>(2 * state))},
      .sequences = {d.put(std::vector<kernels::RecurrentSequence>{
          {0, 2, 3, 0}, {2, 1, kernels::recurrent_zero_state, 1}})},
      .store = {d.put(std::vector<int64_t>{1, 3, 0})},
      .snapshots_kept = 0,
      .sequences_of_call = 2,
      .k_heads = heads,
      .kd = kd,
      .v_heads = heads,
      .vd = vd,
      .head_map_tiled = 0,
      .g_is_linear = 0,
      .packed = packed ? 1 : 0};
  const unsigned size = threads == usual_size ? kernels::recurrent_packed_threads(vd) : threads;
  if (kernels::is_recurrent_packed(params, 2 * heads, size)) {
    LaunchShape shape = kernels::recurrent_packed_shape(2 * heads, kd, vd, size);
    // Each block goes from part to part.
    if (threads != usual_size) shape.blocks = 2;
    d.launch(KernelId::recurrent_packed, shape,
             kernels::recurrent_packed_params(params, 2 * heads, size));
  } else {
    const LaunchShape usual = kernels::recurrent_shape(2, heads, kd, vd);
    d.launch(KernelId::recurrent,
             kernels::recurrent_shape(2, heads, kd, vd, size_of(threads, usual)), params);
  }
  std::vector<float> out;
  d.get(out, S, static_cast<size_t>(slots * state));
  d.get(out, o, static_cast<size_t>(tokens * heads * vd));
  return out;
}

std::vector<float> run_recurrent(KernelDevice& d, unsigned threads) {
  std::vector<float> out;
  for (const int64_t kd : {37, 150}) {
    for (const int64_t vd : {30, 44}) {
      const std::vector<float> one = run_recurrent_of(d, threads, kd, vd);
      out.insert(out.end(), one.begin(), one.end());
    }
  }
  return out;
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases = {
      {"gemv_f32", {usual_size, 128, 256}, run_gemv_f32},
      {"gemv_q4", {usual_size}, run_gemv_q4},
      {"q8_activations", {usual_size, 32, 64, 256}, run_q8_activations},
      {"dequant", {usual_size, 32, 96, 256}, run_dequant},
      {"gates", {usual_size, 64, 128, 256}, run_gates},
      {"conv", {usual_size, 32, 96, 256}, run_conv},
      {"qk_norm", {usual_size, 64, 128, 256}, run_qk_norm},
      {"delta_rule", {usual_size, 32, 64, 256}, run_delta_rule},
      {"recurrent", {usual_size, 32, 64, 256}, run_recurrent},
      {"gated_norm", {usual_size, 64, 128, 256}, run_gated_norm},
      {"gather", {usual_size, 32, 256}, run_gather},
  };
  const std::vector<KernelCase> fused = fused_kernel_cases();
  cases.insert(cases.end(), fused.begin(), fused.end());
  return cases;
}

}  // namespace gdn::gpu
