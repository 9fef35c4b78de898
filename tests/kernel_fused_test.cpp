// The launches that do what several others do, against those: equal bits in all that they write.
#include <cstdint>

#include "device/kernels/conv_gates_norm.cuh"
#include "device/kernels/delta_rule_norm.cuh"
#include "device/kernels/in_proj_q4.cuh"
#include "tests/simulated_kernels.h"

namespace gdn {
namespace {

// Blocks of one unit and of several; x asked for behind any number of stages.
TEST(KernelInProjQ4, HasTheBitsOfEachProjectionByItself) {
  Rng rng(1);
  for (const auto& [cols, qkv_rows, z_rows, stages_before_x] :
       {std::tuple<int64_t, int64_t, int64_t, int32_t>{64, 4, 4, 1},
        {128, 40, 12, 2},
        {384, 8 * 140, 8 * 61 + 4, 3},
        {32 * 34, 16, 8, 0}}) {
    SCOPED_TRACE(testing::Message() << qkv_rows << " and " << z_rows << " x " << cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<uint8_t> qkv = drawn_tiles(rng, qkv_rows, cols);
    const std::vector<uint8_t> z = drawn_tiles(rng, z_rows, cols);
    SimulatedMachine machine;
    const float* const input = machine.put(x);
    const auto room = [&](int64_t rows) { return machine.fresh<float>(static_cast<size_t>(rows)); };
    const kernels::InProjQ4Blocks blocks = kernels::in_proj_q4_blocks(qkv_rows, z_rows);
    const auto params = [&](int32_t before_x) {
      return kernels::InProjQ4{
          .qkv = {{machine.put(qkv)}, {input}, {room(qkv_rows)}, qkv_rows, cols, before_x},
          .z = {{machine.put(z)}, {input}, {room(z_rows)}, z_rows, cols, before_x},
          .qkv_blocks = static_cast<int32_t>(blocks.qkv)};
    };
    const kernels::InProjQ4 both = params(stages_before_x), alone = params(1);
    machine.run<kernels::in_proj_q4>(kernels::in_proj_q4_shape(blocks, cols), both);
    machine.run<kernels::gemv_q4>(kernels::gemv_q4_shape(qkv_rows, cols), alone.qkv);
    machine.run<kernels::gemv_q4>(kernels::gemv_q4_shape(z_rows, cols), alone.z);
    const auto got = [&](const kernels::GemvQ4& of) {
      return machine.get(of.y.address, static_cast<size_t>(of.rows));
    };
    expect_same("qkv", got(both.qkv), got(alone.qkv));
    expect_same("z", got(both.z), got(alone.z));
  }
}

TEST(KernelInProjQ4, FitsOnTheGpuAtOnce) {
  for (const int64_t qkv_rows : {4, 1048, 10240, 1000000}) {
    for (const int64_t z_rows : {4, 8, 6144, 500000}) {
      const kernels::InProjQ4Blocks blocks = kernels::in_proj_q4_blocks(qkv_rows, z_rows);
      EXPECT_GE(blocks.qkv, 1);
      EXPECT_GE(blocks.z, 1);
      EXPECT_LE(blocks.qkv + blocks.z, kernels::q4_blocks_at_once) << qkv_rows << " and " << z_rows;
    }
  }
}

struct Part {
  float* at;
  size_t count;
};

TEST(KernelConvGatesNorm, HasTheBitsOfEachByItself) {
  Rng rng(2);
  for (const auto& [k_heads, kd, v_heads, vd, taps, cols] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>{1, 1, 1, 1, 2, 1},
        {2, 48, 4, 24, 4, 260},
        {3, 130, 150, 1, 2, 33},
        {1, 8, 2, 300, 9, 5400}}) {
    SCOPED_TRACE(testing::Message() << k_heads << " heads of " << kd);
    const int64_t k_dim = k_heads * kd;
    const int64_t channels = 2 * k_dim + v_heads * vd;
    const auto x = drawn(rng, channels), weight = drawn(rng, channels * taps);
    const auto history = drawn(rng, (taps - 1) * channels);
    const auto h = drawn(rng, cols);
    const auto a = drawn(rng, v_heads * cols), b = drawn(rng, v_heads * cols);
    const auto A_log = drawn(rng, v_heads), dt_bias = drawn(rng, v_heads);
    SimulatedMachine machine;
    const float* const input = machine.put(h);
    std::vector<std::vector<Part>> written;
    const auto params = [&] {
      const auto room = [&](int64_t count) {
        return machine.fresh<float>(static_cast<size_t>(count));
      };
      float* const conv = room(channels);
      float* const of_b = room(v_heads);
      float* const of_a = room(v_heads);
      const kernels::ConvGatesNorm p = {.conv = {{machine.put(x)},
                                                 {machine.put(weight)},
                                                 {machine.put(history)},
                                                 {conv},
                                                 channels,
                                                 taps},
                                        .b = {{machine.put(b)}, {input}, {of_b}, v_heads, cols},
                                        .a = {{machine.put(a)}, {input}, {of_a}, v_heads, cols},
                                        .gates = {{of_a},
                                                  {of_b},
                                                  {machine.put(A_log)},
                                                  {machine.put(dt_bias)},
                                                  {room(v_heads)},
                                                  {room(v_heads)},
                                                  v_heads},
                                        .norm = {.q = {conv},
                                                 .k = {conv + k_dim},
                                                 .q_normed = {room(k_dim)},
                                                 .k_normed = {room(k_dim)},
                                                 .k_heads = k_heads,
                                                 .head_dim = kd,
                                                 .eps = 1e-6F,
                                                 .q_scale = kernels::q_scale_of(kd)}};
      const auto part = [](float* at, int64_t count) {
        return Part{at, static_cast<size_t>(count)};
      };
      written.push_back({part(conv, channels), part(p.conv.history.address, (taps - 1) * channels),
                         part(of_b, v_heads), part(of_a, v_heads),
                         part(p.gates.beta.address, v_heads), part(p.gates.g.address, v_heads),
                         part(p.norm.q_normed.address, k_dim),
                         part(p.norm.k_normed.address, k_dim)});
      return p;
    };
    for (const unsigned threads : {128U, 192U}) {
      machine.run<kernels::conv_gates_norm>(
          kernels::conv_gates_norm_shape(channels, k_heads, kd, v_heads, threads), params());
    }
    const kernels::ConvGatesNorm alone = params();
    machine.run<kernels::conv>(kernels::conv_shape(channels, taps), alone.conv);
    machine.run<kernels::gemv_f32>(kernels::gemv_f32_shape(v_heads, cols), alone.b);
    machine.run<kernels::gemv_f32>(kernels::gemv_f32_shape(v_heads, cols), alone.a);
    machine.run<kernels::gates>(kernels::gates_shape(v_heads), alone.gates);
    machine.run<kernels::qk_norm>(kernels::qk_norm_shape(k_heads, kd), alone.norm);
    const char* const names[] = {"conv", "history", "b", "a", "beta", "g", "q", "k"};
    for (size_t i = 0; i < written[0].size(); ++i) {
      const Part& want = written.back()[i];
      for (size_t run = 0; run + 1 < written.size(); ++run) {
        expect_same(names[i], machine.get(written[run][i].at, want.count),
                    machine.get(want.at, want.count));
      }
    }
  }
}

TEST(KernelDeltaRuleNorm, HasTheBitsOfEachByItself) {
  Rng rng(3);
  for (const auto& [k_heads, kd, v_heads, vd] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 1, 1, 4},
        {2, 48, 4, 24},
        {1, 128, 2, 36},
        {1, 16, 3, 128}}) {
    SCOPED_TRACE(testing::Message() << v_heads << " heads of " << kd << " x " << vd);
    const auto q = drawn(rng, k_heads * kd), k = drawn(rng, k_heads * kd, 0.1F);
    const auto v = drawn(rng, v_heads * vd), z = drawn(rng, v_heads * vd), w = drawn(rng, vd);
    const auto S = drawn(rng, v_heads * kd * vd);
    const auto g = drawn(rng, v_heads), beta = drawn(rng, v_heads);
    SimulatedMachine machine;
    const auto params = [&] {
      float* const o = machine.fresh<float>(static_cast<size_t>(v_heads * vd));
      return kernels::DeltaRuleNorm{
          .rule = {.q = {machine.put(q)},
                   .k = {machine.put(k)},
                   .v = {machine.put(v)},
                   .g = {machine.put(g)},
                   .gk = {nullptr},
                   .beta = {machine.put(beta)},
                   .S = {machine.put(S)},
                   .o = {o},
                   .k_heads = k_heads,
                   .kd = kd,
                   .v_heads = v_heads,
                   .vd = vd,
                   .head_map_tiled = 0,
                   .g_is_linear = 0},
          .norm = {.o = {o},
                   .z = {machine.put(z)},
                   .w = {machine.put(w)},
                   .y = {machine.fresh<float>(static_cast<size_t>(v_heads * vd))},
                   .heads = v_heads,
                   .head_dim = vd,
                   .eps = 1e-6F}};
    };
    const kernels::DeltaRuleNorm both = params(), each = params();
    machine.run<kernels::delta_rule_norm>(kernels::delta_rule_norm_shape(v_heads, kd, vd), both);
    machine.run<kernels::delta_rule>(kernels::delta_rule_shape(v_heads, kd, vd), each.rule);
    machine.run<kernels::gated_norm>(kernels::gated_norm_shape(v_heads, vd), each.norm);
    const auto same = [&](const char* what, const float* got, const float* want, size_t count) {
      expect_same(what, machine.get(got, count), machine.get(want, count));
    };
    same("S", both.rule.S.address, each.rule.S.address, S.size());
    same("o", both.rule.o.address, each.rule.o.address, v.size());
    same("y", both.norm.y.address, each.norm.y.address, v.size());
  }
}

}  // namespace
}  // namespace gdn
