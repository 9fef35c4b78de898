// The simulated operator behind the C ABI: its settings, what it serves, the invariants that are
// about the recurrence on every seed, and a fault that changes no byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using ::testing::HasSubstr;

Lab lab_of(const std::string& name) {
  std::string why;
  std::optional<EngineSource> engine = find_engine(name, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  return Lab(*std::move(engine));
}

TEST(AscendEngine, IsFoundWithSettingsAndRefusesOthersInWords) {
  std::string why;
  const auto plain = find_engine("ascend_sim", &why);
  const auto set = find_engine("ascend_sim:v_step=32,depth=2", &why);
  ASSERT_TRUE(plain.has_value() && set.has_value()) << why;
  EXPECT_EQ(set->name, "ascend_sim:v_step=32,depth=2");
  EXPECT_NE(set->api, plain->api);
  EXPECT_EQ(find_engine("ascend_sim:v_step=32,depth=2", &why)->api, set->api);
  EXPECT_FALSE(find_engine("ascend_sim:v_step=33", &why));
  EXPECT_THAT(why, HasSubstr("a multiple of 16"));
  EXPECT_FALSE(find_engine("ascend_sim:speed=2", &why));
  EXPECT_THAT(why, HasSubstr("v_step="));
  EXPECT_FALSE(find_engine("twin:v_step=16", &why));
  EXPECT_THAT(why, HasSubstr("no settings"));
  EXPECT_FALSE(find_engine("nobody:v_step=16", &why));
  EXPECT_THAT(why, HasSubstr("ascend_sim"));
}

// By invariant: on how many seeds it holds.
std::map<std::string, size_t> held_on_seeds(const std::string& engine) {
  const Lab lab = lab_of(engine);
  std::map<std::string, size_t> held;
  for (const CorpusFile& seed : case_files("seeds")) {
    if (seed.content.subject != Subject::recurrent) continue;
    for (const Invariant& invariant : registry()) {
      const Verdict verdict = check(invariant, seed.content, lab);
      if (verdict.outcome == Outcome::not_applicable) continue;
      EXPECT_TRUE(verdict.holds())
          << invariant.name << " on " << seed.name << ": " << verdict.detail;
      held[invariant.name] += verdict.holds();
    }
  }
  return held;
}

TEST(AscendEngine, HoldsEveryInvariantOfTheRecurrence) {
  const std::map<std::string, size_t> held = held_on_seeds("ascend_sim");
  for (const char* name :
       {"fresh_memory_is_never_read", "from_zero_ignores_the_slot", "operators_within_bound",
        "recurrent_meets_no_fault", "recurrent_refuses_wrong_arguments",
        "tiles_and_queues_change_nothing"}) {
    EXPECT_GE(held.contains(name) ? held.at(name) : 0, 3U) << name;
  }
}

TEST(AscendEngine, HoldsThemOnTheSmallerChip) {
  const std::map<std::string, size_t> held = held_on_seeds("ascend_sim:chip=310p");
  EXPECT_GE(held.at("operators_within_bound"), 1U);
}

// Everything recurrent reads and writes, of one unit in float16, in one buffer.
struct Call {
  gdn_recurrent_args args = {};
  explicit Call(gdn_buffer buffer) {
    args.struct_size = sizeof args;
    args.num_sequences = args.num_tokens = args.num_k_heads = args.num_v_heads = 1;
    args.head_k_dim = args.head_v_dim = 1;
    args.num_slots = 1;
    args.state_is_vk = 1;
    int64_t at = 0;
    for (gdn_view* view : {&args.q, &args.k, &args.v, &args.beta, &args.o, &args.state}) {
      *view = {buffer, GDN_F16, at++, {1, 1, 1, 1}};
    }
  }
};

constexpr uint16_t one = 0x3C00, two = 0x4000, half = 0x3800;

struct Opened {
  const gdn_api& api;
  gdn_engine* handle = nullptr;
  gdn_buffer buffer = 0;

  explicit Opened(const std::string& name) : api(*source(name).api) {
    const gdn_shape shape = testing::small_shape(1);
    const gdn_options options = testing::observing();
    EXPECT_EQ(api.open(&shape, &options, &handle), GDN_OK);
    // q, k = 1, v = 2, beta = 1/2, o, S = 1.
    const uint16_t numbers[] = {one, one, two, half, 0x7E00, one};
    EXPECT_EQ(api.buffer_create(handle, sizeof numbers, &buffer), GDN_OK);
    EXPECT_EQ(api.buffer_write(handle, buffer, 0, numbers, sizeof numbers), GDN_OK);
  }
  ~Opened() { api.close(handle); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  static EngineSource source(const std::string& name) {
    std::string why;
    return *find_engine(name, &why);
  }
  uint16_t number(uint64_t index) const {
    uint16_t value = 0;
    EXPECT_EQ(api.buffer_read(handle, buffer, 2 * index, &value, sizeof value), GDN_OK);
    return value;
  }
};

// u = 1, error (2 - 1)/2, S = o = 1 + 1/2.
TEST(AscendEngine, ServesTheDeltaRule) {
  const Opened engine("ascend_sim");
  const Call call(engine.buffer);
  ASSERT_EQ(engine.api.recurrent(engine.handle, &call.args), GDN_OK)
      << engine.api.last_error(engine.handle);
  EXPECT_EQ(engine.number(4), 0x3E00);
  EXPECT_EQ(engine.number(5), 0x3E00);
}

TEST(AscendEngine, AFaultIsToldAndChangesNoByte) {
  const Opened engine("mutant:inputs_not_awaited");
  const Call call(engine.buffer);
  EXPECT_EQ(engine.api.recurrent(engine.handle, &call.args), GDN_INTERNAL);
  EXPECT_THAT(engine.api.last_error(engine.handle), HasSubstr("copy_in"));
  EXPECT_EQ(engine.number(4), 0x7E00);
  EXPECT_EQ(engine.number(5), one);
}

struct Unserved {
  const char* what;
  void (*change)(gdn_recurrent_args&);
  const char* words;
};

TEST(AscendEngine, SaysWhatItDoesNotServe) {
  const Unserved all[] = {{"norm", [](auto& a) { a.qk_norm = GDN_QK_NORM_SUM_EPS; }, "norm"},
                          {"scale on the output", [](auto& a) { a.scale_on_output = 1; }, "scale"},
                          {"another layout", [](auto& a) { a.state_is_vk = 0; }, "[vd][kd]"},
                          {"bf16 on this chip",
                           [](auto& a) { a.q.format = a.k.format = a.v.format = GDN_BF16; }, "f16"},
                          {"two formats", [](auto& a) { a.q.format = GDN_BF16; }, "one format"},
                          {"17 tokens",
                           [](auto& a) {
                             a.num_tokens = 17;
                             for (gdn_view* view : {&a.q, &a.k, &a.v, &a.beta, &a.o})
                               view->stride[0] = 0;
                           },
                           "tokens"}};
  const Opened engine("ascend_sim:chip=310p");
  for (const Unserved& one_of : all) {
    Call call(engine.buffer);
    one_of.change(call.args);
    EXPECT_EQ(engine.api.recurrent(engine.handle, &call.args), GDN_UNSUPPORTED) << one_of.what;
    EXPECT_THAT(engine.api.last_error(engine.handle), HasSubstr(one_of.words)) << one_of.what;
  }
}

}  // namespace
}  // namespace gdn
