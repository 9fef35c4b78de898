// Cases of the launches that do what several others do.
#include "device/kernels/conv_gates_norm.cuh"
#include "device/kernels/delta_rule_norm.cuh"
#include "device/kernels/in_proj_q4.cuh"
#include "tests/gpu/kernel_case_numbers.h"
#include "tests/gpu/kernel_cases.h"

namespace gdn::gpu {
namespace {

using host::KernelId;

// Units of both matrices, on several blocks, and of a last half.
std::vector<float> run_in_proj_q4(KernelDevice& d, unsigned) {
  constexpr int64_t cols = 32 * 38, qkv_rows = 1200, z_rows = 20;
  const kernels::InProjQ4Blocks blocks = kernels::in_proj_q4_blocks(qkv_rows, z_rows);
  const float* const x = d.put(drawn(40, cols));
  float* const qkv = d.fresh<float>(qkv_rows);
  float* const z = d.fresh<float>(z_rows);
  d.launch<kernels::InProjQ4>(
      KernelId::in_proj_q4, kernels::in_proj_q4_shape(blocks, cols),
      {.qkv = {{d.put(drawn_tiles(41, qkv_rows, cols))}, {x}, {qkv}, qkv_rows, cols, 2},
       .z = {{d.put(drawn_tiles(42, z_rows, cols))}, {x}, {z}, z_rows, cols, 2},
       .qkv_blocks = static_cast<int32_t>(blocks.qkv)});
  std::vector<float> out;
  d.get(out, qkv, qkv_rows);
  d.get(out, z, z_rows);
  return out;
}

std::vector<float> run_conv_gates_norm(KernelDevice& d, unsigned threads) {
  constexpr int64_t k_heads = 3, head_dim = 40, v_heads = 6, taps = 4, cols = 700;
  constexpr int64_t k_dim = k_heads * head_dim;
  constexpr int64_t channels = 2 * k_dim + v_heads * 24;
  float* const history = d.put(drawn(50, (taps - 1) * channels));
  float* const conv = d.fresh<float>(channels);
  float* const normed = d.fresh<float>(2 * k_dim);
  float* const gates = d.fresh<float>(2 * v_heads);
  float* const small = d.fresh<float>(2 * v_heads);
  const float* const h = d.put(drawn(57, cols));
  const auto shape = [](unsigned size) {
    return kernels::conv_gates_norm_shape(channels, k_heads, head_dim, v_heads, size);
  };
  d.launch<kernels::ConvGatesNorm>(
      KernelId::conv_gates_norm, shape(size_of(threads, shape(128))),
      {.conv = {.x = {d.put(drawn(51, channels))},
                .weight = {d.put(drawn(52, channels * taps))},
                .history = {history},
                .y = {conv},
                .channels = channels,
                .taps = taps},
       .b = {{d.put(drawn(54, v_heads * cols))}, {h}, {small}, v_heads, cols},
       .a = {{d.put(drawn(53, v_heads * cols))}, {h}, {small + v_heads}, v_heads, cols},
       .gates = {.a = {small + v_heads},
                 .b = {small},
                 .A_log = {d.put(drawn(55, v_heads))},
                 .dt_bias = {d.put(drawn(56, v_heads))},
                 .beta = {gates},
                 .g = {gates + v_heads},
                 .count = v_heads},
       .norm = {.q = {conv},
                .k = {conv + k_dim},
                .q_normed = {normed},
                .k_normed = {normed + k_dim},
                .k_heads = k_heads,
                .head_dim = head_dim,
                .eps = 1e-6F,
                .q_scale = kernels::q_scale_of(head_dim)}});
  std::vector<float> out;
  d.get(out, history, (taps - 1) * channels);
  d.get(out, conv, channels);
  d.get(out, normed, 2 * k_dim);
  d.get(out, small, 2 * v_heads);
  d.get(out, gates, 2 * v_heads);
  return out;
}

std::vector<float> run_delta_rule_norm(KernelDevice& d, unsigned) {
  constexpr int64_t k_heads = 2, v_heads = 6, kd = 37, vd = 44;
  float* const S = d.put(drawn(60, v_heads * kd * vd));
  float* const o = d.fresh<float>(v_heads * vd);
  float* const y = d.fresh<float>(v_heads * vd);
  d.launch<kernels::DeltaRuleNorm>(KernelId::delta_rule_norm,
                                   kernels::delta_rule_norm_shape(v_heads, kd, vd),
                                   {.rule = {.q = {d.put(drawn(61, k_heads * kd, 0.1F))},
                                             .k = {d.put(drawn(62, k_heads * kd, 0.1F))},
                                             .v = {d.put(drawn(63, v_heads * vd))},
                                             .g = {d.put(drawn(64, v_heads, 0.5F))},
                                             .gk = {nullptr},
                                             .beta = {d.put(drawn(65, v_heads))},
                                             .S = {S},
                                             .o = {o},
                                             .k_heads = k_heads,
                                             .kd = kd,
                                             .v_heads = v_heads,
                                             .vd = vd,
                                             .head_map_tiled = 0,
                                             .g_is_linear = 0},
                                    .norm = {.o = {o},
                                             .z = {d.put(drawn(66, v_heads * vd))},
                                             .w = {d.put(drawn(67, vd))},
                                             .y = {y},
                                             .heads = v_heads,
                                             .head_dim = vd,
                                             .eps = 1e-6F}});
  std::vector<float> out;
  d.get(out, S, v_heads * kd * vd);
  d.get(out, o, v_heads * vd);
  d.get(out, y, v_heads * vd);
  return out;
}

}  // namespace

std::vector<KernelCase> fused_kernel_cases() {
  return {{"in_proj_q4", {usual_size}, run_in_proj_q4},
          {"conv_gates_norm", {usual_size, 192, 256}, run_conv_gates_norm},
          {"delta_rule_norm", {usual_size}, run_delta_rule_norm}};
}

}  // namespace gdn::gpu
