// What the interface says must be refused, and what must not: the model of an engine's life agrees
// with the twin call by call, so that no sound engine is blamed for a refusal.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr const char* head =
    "deltaproof-case 1\nsubject layer\nseed 31\n"
    "shape hidden_size=32 num_k_heads=1 head_k_dim=8 num_v_heads=2 head_v_dim=16 conv_kernel=3 "
    "num_layers=2 rms_norm_eps=1e-06 l2norm_eps=1e-06\ndialect deltaproof\n";

class Refusals : public testing::TestWithParam<const char*> {
 protected:
  static void expect_agreement(const std::string& text) {
    std::string why;
    const std::optional<EngineSource> twin = find_engine("twin", &why);
    ASSERT_TRUE(twin.has_value()) << why;
    const std::optional<Case> parsed = parse_case(text, &why);
    ASSERT_TRUE(parsed.has_value()) << why;
    const Lab lab(*twin);
    const Verdict verdict = check(*invariant_named("layer_within_bound"), *parsed, lab);
    EXPECT_TRUE(verdict.holds()) << name_of(verdict.outcome) << ": " << verdict.detail;
  }
};

class OfALoadedLayer : public Refusals {};
TEST_P(OfALoadedLayer, AgreeAndLeaveTheNextStepAsItWas) {
  expect_agreement(std::string(head) + "tokens 4\ncall load_layer_f32\ncall " + GetParam() +
                   "\ncall step first_token=3 read=OUT,S,HIST\n");
}
INSTANTIATE_TEST_SUITE_P(
    Calls, OfALoadedLayer,
    testing::Values("step omit=h", "step omit=out", "step layer=5", "run tokens=-1",
                    "run tokens=0 omit=h,out", "run tokens=2 omit=h", "forward tokens=2",
                    "forward tokens=0", "read tensor=12", "read tensor=99", "read tensor=-1",
                    "read tensor=13 capacity=1", "read tensor=13 capacity=1000",
                    "read tensor=12 capacity=-2", "read layer=7", "state_export capacity=1",
                    "state_export capacity=1463", "state_export capacity=1464",
                    "state_export capacity=9999", "state_import", "state_import bytes=3",
                    "rollback id=4", "snapshot layer=9", "reset layer=9", "load_layer_f32",
                    "load_layer_f32 layer=1 omit=norm", "bind_q4", "pool_get", "pool_put",
                    "buffer_read", "buffer_write bytes=8", "buffer_release",
                    "buffer_create bytes=8\ncall buffer_read bytes=8",
                    "buffer_create bytes=8\ncall buffer_read bytes=8 offset=1",
                    "buffer_create bytes=8\ncall buffer_release\ncall buffer_read bytes=8"));

class OfThePool : public Refusals {};
TEST_P(OfThePool, Agree) {
  expect_agreement(std::string(head) + "weights q4\ntokens 1\ncall load_layer_f32\ncall " +
                   GetParam() + "\n");
}
// qkv is 48 x 32: 12 x 1 tiles of 72 bytes, 864. z and out are both 32 x 32.
INSTANTIATE_TEST_SUITE_P(
    Calls, OfThePool,
    testing::Values("pool_init bytes=863\ncall pool_put", "pool_init bytes=864\ncall pool_put",
                    "pool_init\ncall pool_put rows=3", "pool_init\ncall pool_put cols=0",
                    "pool_init\ncall pool_put omit=tiles",
                    "pool_init\ncall pool_put\ncall pool_put",
                    "pool_init\ncall pool_put\ncall pool_get capacity=863",
                    "pool_init\ncall pool_put\ncall pool_get capacity=864",
                    "pool_init\ncall pool_put rows=4\ncall pool_put matrix=1\n"
                    "call pool_put matrix=2\ncall bind_q4",
                    "pool_init\ncall pool_put\ncall pool_put matrix=1\ncall pool_put matrix=2\n"
                    "call bind_q4 key_z=3 key_out=2\ncall step"));

}  // namespace
}  // namespace gdn
