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

// The sizes of a layer, and its numbers between the large projections and the recurrence.
struct Between {
  int64_t k_heads, kd, v_heads, vd, taps, cols;

  int64_t k_dim() const { return k_heads * kd; }
  int64_t channels() const { return 2 * k_dim() + v_heads * vd; }
};

// A launch with arrays of its own, drawn anew from the same seed.
kernels::ConvGatesNorm drawn_launch(const Between& s, SimulatedMachine& machine,
                                    bool decays = true) {
  Rng rng(2);
  const auto put = [&](int64_t count) { return machine.put(drawn(rng, count)); };
  const auto room = [&](int64_t count) { return machine.fresh<float>(static_cast<size_t>(count)); };
  float* const history = put((s.taps - 1) * s.channels());
  float* const conv = room(s.channels());
  const float* const h = put(s.cols);
  kernels::ConvGatesNorm p;
  p.conv = {
      {put(s.channels())}, {put(s.channels() * s.taps)}, {history}, {conv}, s.channels(), s.taps};
  p.b = {{put(s.v_heads * s.cols)}, {h}, {room(s.v_heads)}, s.v_heads, s.cols};
  p.a = {{put(s.v_heads * s.cols)}, {h}, {room(s.v_heads)}, s.v_heads, s.cols};
  p.gates = {p.a.y,
             p.b.y,
             {put(s.v_heads)},
             {machine.put(drawn(rng, s.v_heads, 60))},  // x on both sides of -20
             {room(s.v_heads)},
             {room(s.v_heads)},
             s.v_heads,
             {decays ? room(s.v_heads) : nullptr}};
  p.norm = {.q = {conv},
            .k = {conv + s.k_dim()},
            .q_normed = {room(s.k_dim())},
            .k_normed = {room(s.k_dim())},
            .k_heads = s.k_heads,
            .head_dim = s.kd,
            .eps = 1e-6F,
            .q_scale = kernels::q_scale_of(s.kd)};
  return p;
}

void expect_same_launch(const Between& s, SimulatedMachine& machine,
                        const kernels::ConvGatesNorm& got, const kernels::ConvGatesNorm& want) {
  const auto compare = [&](const char* name, const auto& one, const auto& other, int64_t count) {
    expect_same(name, machine.get(one.address, static_cast<size_t>(count)),
                machine.get(other.address, static_cast<size_t>(count)));
  };
  compare("conv", got.conv.y, want.conv.y, s.channels());
  compare("history", got.conv.history, want.conv.history, (s.taps - 1) * s.channels());
  compare("b", got.b.y, want.b.y, s.v_heads);
  compare("a", got.a.y, want.a.y, s.v_heads);
  compare("beta", got.gates.beta, want.gates.beta, s.v_heads);
  compare("g", got.gates.g, want.gates.g, s.v_heads);
  if (got.gates.decay.present()) compare("decay", got.gates.decay, want.gates.decay, s.v_heads);
  compare("q", got.norm.q_normed, want.norm.q_normed, s.k_dim());
  compare("k", got.norm.k_normed, want.norm.k_normed, s.k_dim());
}

TEST(KernelConvGatesNorm, HasTheBitsOfEachByItself) {
  for (const Between& s :
       {Between{1, 1, 1, 1, 2, 1}, Between{2, 48, 4, 24, 4, 260}, Between{3, 130, 150, 1, 2, 33},
        Between{1, 8, 2, 300, 9, 5400}, Between{1, 300, 1, 4, 6, 20}}) {
    SCOPED_TRACE(testing::Message() << s.k_heads << " heads of " << s.kd);
    SimulatedMachine machine;
    const kernels::ConvGatesNorm alone = drawn_launch(s, machine);
    machine.run<kernels::conv>(kernels::conv_shape(s.channels(), s.taps), alone.conv);
    machine.run<kernels::gemv_f32>(kernels::gemv_f32_shape(s.v_heads, s.cols), alone.b);
    machine.run<kernels::gemv_f32>(kernels::gemv_f32_shape(s.v_heads, s.cols), alone.a);
    machine.run<kernels::gates>(kernels::gates_shape(s.v_heads), alone.gates);
    machine.run<kernels::qk_norm>(kernels::qk_norm_shape(s.k_heads, s.kd), alone.norm);
    for (const unsigned threads : {128U, 192U}) {
      const kernels::ConvGatesNorm all = drawn_launch(s, machine, threads == 128);
      machine.run<kernels::conv_gates_norm>(
          kernels::conv_gates_norm_shape(s.channels(), s.k_heads, s.kd, s.v_heads, threads), all);
      expect_same_launch(s, machine, all, alone);
    }
  }
}

// exp(g) for the recurrence, on both sides of -20, where softplus is taken as exp.
TEST(KernelGates, GiveTheDecayWhereItIsAskedFor) {
  SimulatedMachine machine;
  const std::vector<float> a = {-30, -20.5F, -20, -3, 0, 5, 40};
  const auto count = static_cast<int64_t>(a.size());
  const std::vector<float> zeros(a.size(), 0.0F);
  const std::vector<float> A_log(a.size(), 0.5F);
  const kernels::Gates p = {{machine.put(a)},
                            {machine.put(zeros)},
                            {machine.put(A_log)},
                            {machine.put(zeros)},
                            {machine.fresh<float>(a.size())},
                            {machine.fresh<float>(a.size())},
                            count,
                            {machine.fresh<float>(a.size())}};
  machine.run<kernels::gates>(kernels::gates_shape(count), p);
  const std::vector<float> g = machine.get(p.g.address, a.size());
  const std::vector<float> decay = machine.get(p.decay.address, a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(g[i], a[i] < -20 ? -exp_f32(0.5F + a[i]) : -exp_f32(0.5F) * softplus_f32(a[i]));
    EXPECT_EQ(decay[i], exp_f32(g[i])) << "a = " << a[i];
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
