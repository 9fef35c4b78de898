// recurrent on every engine: layouts, strides and storage against the delta rule of apply, and
// every argument wrong in turn.
#include <cmath>
#include <functional>

#include "invariants/harness/allocation_ledger.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::apply;
using testing::array;
using testing::bits;
using testing::numbers;
using testing::Opened;

struct Sequence {
  int64_t T, kh, kd, vh, vd;
  std::vector<float> q, k, v, g, beta, S;
};

// Two key heads, four value heads, kd = 3 and vd = 5: no two counts are equal. g <= 0 forgets
// slowly, and 0 <= beta < 1.
Sequence sequence_of(int64_t T) {
  Sequence s{T,
             2,
             3,
             4,
             5,
             numbers(1, T * 6),
             numbers(2, T * 6),
             numbers(3, T * 20),
             numbers(4, T * 4),
             numbers(5, T * 4),
             numbers(6, 60)};
  for (float& g : s.g) g = -std::fabs(g) / 16;
  for (float& beta : s.beta) beta = std::fabs(beta);
  return s;
}

gdn_view put(const Opened& engine, const void* data, size_t bytes, gdn_format format,
             std::vector<int64_t> extents) {
  gdn_view view = {};
  view.format = format;
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    view.stride[d] = stride;
    stride *= extents[d];
  }
  EXPECT_EQ(engine.api.buffer_create(engine.handle, bytes, &view.buffer), GDN_OK);
  EXPECT_EQ(engine.api.buffer_write(engine.handle, view.buffer, 0, data, bytes), GDN_OK);
  return view;
}
gdn_view put(const Opened& engine, const std::vector<float>& data, std::vector<int64_t> extents) {
  return put(engine, data.data(), data.size() * sizeof(float), GDN_F32, std::move(extents));
}
std::vector<float> fetch(const Opened& engine, const gdn_view& view, size_t count) {
  std::vector<float> values(count);
  EXPECT_EQ(
      engine.api.buffer_read(engine.handle, view.buffer, 0, values.data(), count * sizeof(float)),
      GDN_OK);
  return values;
}

// Contiguous, state [kd][vd], no norm, scale 1 given.
gdn_recurrent_args arguments(const Opened& engine, const Sequence& s) {
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = 1;
  args.num_tokens = s.T;
  args.num_k_heads = s.kh;
  args.head_k_dim = s.kd;
  args.num_v_heads = s.vh;
  args.head_v_dim = s.vd;
  args.num_slots = 1;
  args.q = put(engine, s.q, {s.T, s.kh, s.kd});
  args.k = put(engine, s.k, {s.T, s.kh, s.kd});
  args.v = put(engine, s.v, {s.T, s.vh, s.vd});
  args.g = put(engine, s.g, {s.T, s.vh});
  args.beta = put(engine, s.beta, {s.T, s.vh});
  args.o = put(engine, std::vector<float>(s.v.size(), NAN), {s.T, s.vh, s.vd});
  args.state = put(engine, s.S, {1, s.vh, s.kd, s.vd});
  args.scale_is_given = 1;
  args.scale = 1;
  return args;
}

struct Result {
  std::vector<float> o, S;
};

Result by_token(const Sequence& s) {
  const Opened engine;
  gdn_shape shape = testing::small_shape();
  shape.num_k_heads = s.kh;
  shape.head_k_dim = s.kd;
  shape.num_v_heads = s.vh;
  shape.head_v_dim = s.vd;
  Result result{{}, s.S};
  for (int64_t t = 0; t < s.T; ++t) {
    const auto part = [t](const std::vector<float>& all, int64_t n) {
      return std::vector<float>(all.begin() + t * n, all.begin() + (t + 1) * n);
    };
    std::vector<float> q = part(s.q, s.kh * s.kd), k = part(s.k, s.kh * s.kd);
    std::vector<float> v = part(s.v, s.vh * s.vd), g = part(s.g, s.vh), beta = part(s.beta, s.vh);
    std::vector<float> o(v.size());
    EXPECT_EQ(apply(engine, GDN_DELTA_RULE, shape,
                    {array("q", q), array("k", k), array("v", v), array("g", g),
                     array("beta", beta), array("S", result.S)},
                    {array("S", result.S), array("o", o)}),
              GDN_OK)
        << engine.error();
    result.o.insert(result.o.end(), o.begin(), o.end());
  }
  return result;
}

Result recurrent(const Opened& engine, const gdn_recurrent_args& args, const Sequence& s) {
  EXPECT_EQ(engine.api.recurrent(engine.handle, &args), GDN_OK) << engine.error();
  return {fetch(engine, args.o, s.v.size()), fetch(engine, args.state, s.S.size())};
}

ON_EVERY_ENGINE(EngineRecurrent);

TEST_P(EngineRecurrent, EqualsTheTokenLoopAtEveryLength) {
  for (const int64_t T : {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 69, 95, 96, 97, 127, 128, 129}) {
    const Sequence s = sequence_of(T);
    const Opened engine;
    const Result got = recurrent(engine, arguments(engine, s), s);
    const Result want = by_token(s);
    EXPECT_EQ(bits(got.o), bits(want.o)) << T << " tokens";
    EXPECT_EQ(bits(got.S), bits(want.S)) << T << " tokens";
  }
}

TEST_P(EngineRecurrent, SurvivesStrongDecayOfOneKey) {
  // The same unit key 64 times, g = -20, beta = 0.835: a chunked inverse would blow up.
  Sequence s = sequence_of(64);
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = i % 3 == 0 ? 1.0F : 0.0F;
  for (float& g : s.g) g = -20;
  for (float& beta : s.beta) beta = 0.835F;
  const Opened engine;
  const Result got = recurrent(engine, arguments(engine, s), s);
  EXPECT_EQ(bits(got.o), bits(by_token(s).o));
  for (const float o : got.o) EXPECT_TRUE(std::isfinite(o));
}

TEST_P(EngineRecurrent, ReadsAndWritesEitherStateLayout) {
  const Sequence s = sequence_of(5);
  const Opened engine;
  const Result want = by_token(s);
  std::vector<float> turned(s.S.size());
  const auto turn = [](size_t i) {  // [4][3][5] to [4][5][3]
    return i / 15 * 15 + i % 5 * 3 + i % 15 / 5;
  };
  for (size_t i = 0; i < s.S.size(); ++i) turned[turn(i)] = s.S[i];
  gdn_recurrent_args args = arguments(engine, s);
  args.state_is_vk = 1;
  args.state = put(engine, turned, {1, 4, 5, 3});
  const Result got = recurrent(engine, args, s);
  EXPECT_EQ(bits(got.o), bits(want.o));
  for (size_t i = 0; i < s.S.size(); ++i) EXPECT_EQ(got.S[turn(i)], want.S[i]);
}

TEST_P(EngineRecurrent, FollowsOffsetsAndStridesAndTouchesNothingElse) {
  // q is stored back to front, o and S with gaps that must keep their sentinels.
  const Sequence s = sequence_of(4);
  const Opened engine;
  const Result want = by_token(s);
  gdn_recurrent_args args = arguments(engine, s);
  args.q = put(engine, std::vector<float>(s.q.rbegin(), s.q.rend()), {4, 2, 3});
  args.q.offset = 23;
  for (int64_t& stride : args.q.stride) stride = -stride;
  constexpr float sentinel = 12345;
  args.o = put(engine, std::vector<float>(400, sentinel), {1});
  args.o.offset = 7;
  args.o.stride[0] = 91;
  args.o.stride[1] = 11;
  args.o.stride[2] = 2;
  std::vector<float> pool(200, sentinel);
  const auto place = [](size_t i) { return 3 + i / 15 * 40 + i % 15 / 5 * 6 + i % 5; };
  for (size_t i = 0; i < s.S.size(); ++i) pool[place(i)] = s.S[i];
  args.state = put(engine, pool, {1});
  args.state.offset = 3;
  args.state.stride[1] = 40;
  args.state.stride[2] = 6;
  args.state.stride[3] = 1;
  ASSERT_EQ(engine.api.recurrent(engine.handle, &args), GDN_OK) << engine.error();

  std::vector<float> o(400, sentinel);
  for (size_t i = 0; i < want.o.size(); ++i) {
    o[7 + i / 20 * 91 + i % 20 / 5 * 11 + i % 5 * 2] = want.o[i];
  }
  EXPECT_EQ(bits(fetch(engine, args.o, 400)), bits(o));
  for (size_t i = 0; i < want.S.size(); ++i) pool[place(i)] = want.S[i];
  EXPECT_EQ(bits(fetch(engine, args.state, 200)), bits(pool));
}

TEST_P(EngineRecurrent, WidensBf16InputsAndRoundsTheOutputOnce) {
  // k = q = 1, beta = 1, S = 0: o = v. v = 1 + 2^-7 is a bf16; times the scale 1 + 2^-8, which is
  // not, o = 1 + 2^-7 + 2^-8 + 2^-15 in float32 and, above the tie, 1 + 2^-6 in bf16.
  const Opened engine;
  const uint16_t one = 0x3F80, v = 0x3F81, zero = 0;
  const float state = 0;
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = args.num_tokens = args.num_slots = 1;
  args.num_k_heads = args.head_k_dim = args.num_v_heads = args.head_v_dim = 1;
  args.q = args.k = args.beta = put(engine, &one, 2, GDN_BF16, {1, 1, 1});
  args.v = put(engine, &v, 2, GDN_BF16, {1, 1, 1});
  args.o = put(engine, &zero, 2, GDN_BF16, {1, 1, 1});
  args.state = put(engine, &state, 4, GDN_F32, {1, 1, 1, 1});
  args.scale_is_given = args.scale_on_output = 1;
  args.scale = 1 + 0x1p-8F;
  ASSERT_EQ(engine.api.recurrent(engine.handle, &args), GDN_OK) << engine.error();
  uint16_t o = 0;
  ASSERT_EQ(engine.api.buffer_read(engine.handle, args.o.buffer, 0, &o, 2), GDN_OK);
  EXPECT_EQ(o, 0x3F82);
  EXPECT_EQ(fetch(engine, args.state, 1)[0], 1 + 0x1p-7F);
}

TEST_P(EngineRecurrent, KnowsTheOtherConventions) {
  // kh = 2, vh = 4, kd = vd = 1; S = 1 everywhere, beta = 0, so o_i = alpha S q_map(i) scale.
  Sequence s{
      1,           2, 1, 4, 1, {2, 3}, {5, 5}, {0, 0, 0, 0}, {0.5F, 0.5F, 0.5F, 0.5F}, {0, 0, 0, 0},
      {1, 1, 1, 1}};
  const Opened engine;
  const auto output = [&](const std::function<void(gdn_recurrent_args&)>& change) {
    gdn_recurrent_args args = arguments(engine, s);
    args.g_is_linear = 1;
    change(args);
    return recurrent(engine, args, s).o;
  };
  using Values = std::vector<float>;
  EXPECT_EQ(output([](auto&) {}), (Values{1, 1, 1.5F, 1.5F}));
  EXPECT_EQ(output([](auto& a) { a.head_map_tiled = 1; }), (Values{1, 1.5F, 1, 1.5F}));
  EXPECT_EQ(output([](auto& a) { a.g.buffer = 0; }), (Values{2, 2, 3, 3}));
  EXPECT_EQ(output([](auto& a) { a.scale = 4; }), (Values{4, 4, 6, 6}));
  EXPECT_EQ(output([](auto& a) { a.scale = 4, a.scale_on_output = 1; }), (Values{4, 4, 6, 6}));
  // A norm of one element leaves its sign, but for eps: 2 / sqrt(4 + 5), 3 / max(3, 5).
  EXPECT_EQ(output([](auto& a) { a.qk_norm = GDN_QK_NORM_SUM_EPS, a.qk_norm_eps = 5; })[0],
            2.0F / 3.0F * 0.5F);
  EXPECT_EQ(output([](auto& a) { a.qk_norm = GDN_QK_NORM_MEAN_EPS, a.qk_norm_eps = 5; })[0],
            2.0F / 3.0F * 0.5F);
  EXPECT_EQ(output([](auto& a) { a.qk_norm = GDN_QK_NORM_MAX, a.qk_norm_eps = 5; })[3],
            3.0F / 5.0F * 0.5F);
  const int32_t flag = 1;
  const gdn_view from_zero = put(engine, &flag, 4, GDN_I32, {1});
  EXPECT_EQ(output([&](auto& a) { a.from_zero = from_zero; }), (Values{0, 0, 0, 0}));
}

TEST_P(EngineRecurrent, OfNoTokensLeavesTheState) {
  Sequence s = sequence_of(1);
  const Opened engine;
  gdn_recurrent_args args = arguments(engine, s);
  args.num_tokens = 0;
  EXPECT_EQ(bits(recurrent(engine, args, s).S), bits(s.S));
  args.num_sequences = 0;
  EXPECT_EQ(bits(recurrent(engine, args, s).S), bits(s.S));
}

struct Wrong {
  const char* what;
  gdn_status status;
  std::function<void(gdn_recurrent_args&)> change;
};

const Wrong wrongs[] = {
    {"struct_size", GDN_INVALID_ARGUMENT, [](auto& a) { a.struct_size -= 8; }},
    {"num_sequences", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_sequences = -1; }},
    {"sequences without coding", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_sequences = 2; }},
    {"tokens of no sequence", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_sequences = 0; }},
    {"num_tokens negative", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_tokens = -1; }},
    {"num_tokens beyond q", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_tokens += 1; }},
    {"num_tokens huge", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_tokens = INT64_MAX; }},
    {"num_k_heads", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_k_heads = 0; }},
    {"num_k_heads no divisor", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_k_heads = 3; }},
    {"head_k_dim", GDN_INVALID_ARGUMENT, [](auto& a) { a.head_k_dim = 0; }},
    {"head_k_dim too large", GDN_INVALID_ARGUMENT, [](auto& a) { a.head_k_dim = 4; }},
    {"num_v_heads", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_v_heads = -4; }},
    {"head_v_dim", GDN_INVALID_ARGUMENT, [](auto& a) { a.head_v_dim = INT64_MIN; }},
    {"num_slots", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_slots = 0; }},
    {"num_slots beyond the pool", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_slots = 2; }},
    {"num_snapshots", GDN_INVALID_ARGUMENT, [](auto& a) { a.num_snapshots = -1; }},
    {"q absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.q.buffer = 0; }},
    {"k absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.k.buffer = 0; }},
    {"v absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.v.buffer = 0; }},
    {"beta absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.beta.buffer = 0; }},
    {"o absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.o.buffer = 0; }},
    {"state absent", GDN_INVALID_ARGUMENT, [](auto& a) { a.state.buffer = 0; }},
    {"no such buffer", GDN_NOT_FOUND, [](auto& a) { a.v.buffer = 9999; }},
    {"q in int32", GDN_INVALID_ARGUMENT, [](auto& a) { a.q.format = GDN_I32; }},
    {"g in bf16", GDN_INVALID_ARGUMENT, [](auto& a) { a.g.format = GDN_BF16; }},
    {"o in tiles", GDN_INVALID_ARGUMENT, [](auto& a) { a.o.format = GDN_Q4_TILE; }},
    {"format unknown", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.k.format = static_cast<gdn_format>(77); }},
    {"offset negative", GDN_INVALID_ARGUMENT, [](auto& a) { a.k.offset = -1; }},
    {"offset one too far", GDN_INVALID_ARGUMENT, [](auto& a) { a.o.offset = 1; }},
    {"offset huge", GDN_INVALID_ARGUMENT, [](auto& a) { a.o.offset = INT64_MAX; }},
    {"stride beyond", GDN_INVALID_ARGUMENT, [](auto& a) { a.state.stride[1] += 1; }},
    {"stride before", GDN_INVALID_ARGUMENT, [](auto& a) { a.beta.stride[1] = -1; }},
    {"stride overflows", GDN_INVALID_ARGUMENT, [](auto& a) { a.v.stride[0] = INT64_MAX; }},
    {"strides cancel in overflow", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.v.stride[0] = INT64_MAX / 2, a.v.stride[1] = INT64_MIN / 4; }},
    {"sequence_coding", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.sequence_coding = static_cast<gdn_sequence_coding>(3); }},
    {"state_writes", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.state_writes = static_cast<gdn_state_writes>(-1); }},
    {"padding", GDN_INVALID_ARGUMENT, [](auto& a) { a.padding = static_cast<gdn_padding>(5); }},
    {"qk_norm", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.qk_norm = static_cast<gdn_qk_norm_form>(4); }},
    {"qk_norm_eps", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.qk_norm = GDN_QK_NORM_SUM_EPS, a.qk_norm_eps = NAN; }},
    {"scale", GDN_INVALID_ARGUMENT, [](auto& a) { a.scale = INFINITY; }},
    {"last states without snapshots", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.state_writes = GDN_WRITE_LAST, a.num_snapshots = 1; }},
    {"a state for every token without slots", GDN_INVALID_ARGUMENT,
     [](auto& a) { a.state_writes = GDN_WRITE_EVERY_TOKEN; }},
};

TEST_P(EngineRecurrent, RefusesEveryWrongArgumentAndTouchesNothing) {
  const Sequence s = sequence_of(6);
  const Opened engine;
  const gdn_recurrent_args right = arguments(engine, s);
  EXPECT_EQ(engine.api.recurrent(engine.handle, nullptr), GDN_INVALID_ARGUMENT);
  for (const Wrong& wrong : wrongs) {
    gdn_recurrent_args args = right;
    wrong.change(args);
    EXPECT_EQ(engine.api.recurrent(engine.handle, &args), wrong.status) << wrong.what;
    EXPECT_NE(engine.error(), "") << wrong.what;
    EXPECT_EQ(bits(fetch(engine, right.state, s.S.size())), bits(s.S)) << wrong.what;
    EXPECT_TRUE(std::isnan(fetch(engine, right.o, 1)[0])) << wrong.what;
  }
  const Result got = recurrent(engine, right, s);
  EXPECT_EQ(bits(got.o), bits(by_token(s).o)) << "the next right call works";
}

TEST_P(EngineRecurrent, AFailedAllocationLeavesStateAndOutput) {
  AllocationLedger ledger;
  gdn_options options = testing::observing();
  ledger.attach(options);
  const Opened engine(testing::small_shape(), options);
  const Sequence s = sequence_of(6);
  const gdn_recurrent_args args = arguments(engine, s);
  const uint64_t held = ledger.held;
  uint64_t n = 0;
  for (ledger.arm(++n); engine.api.recurrent(engine.handle, &args) != GDN_OK; ledger.arm(++n)) {
    EXPECT_NE(engine.error(), "");
    EXPECT_EQ(bits(fetch(engine, args.state, s.S.size())), bits(s.S));
    EXPECT_TRUE(std::isnan(fetch(engine, args.o, 1)[0]));
    EXPECT_EQ(ledger.held, held);
  }
  EXPECT_GT(n, 1U) << "recurrent works in memory of its own";
  EXPECT_EQ(ledger.held, held);
  EXPECT_EQ(bits(fetch(engine, args.o, s.v.size())), bits(by_token(s).o));
}

}  // namespace
}  // namespace gdn
