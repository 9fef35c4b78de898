// What the engines of kernels declare is what the kernels are tested against, and a projection of
// the engine itself has the bits of the order that it declares.
#include "invariants/harness/engine.h"
#include "tests/opened_engine.h"
#include "tests/simulated_kernels.h"

namespace gdn {
namespace {

using testing::apply;
using testing::array;
using testing::bits;
using testing::Opened;

Contract contract_of(const std::string& engine) {
  std::string why;
  const std::optional<EngineSource> source = find_engine(engine, &why);
  EXPECT_TRUE(source.has_value()) << why;
  return source ? source->description.contract : Contract{};
}

// Also of an engine whose device is not here: describe needs none.
TEST(HostContract, IsTheOneThatTheKernelsAreTestedAgainst) {
  const Contract kernels = kernel_contract();
  for (const char* name : {"cuda", "simt", "simt_checked"}) {
    const Contract declared = contract_of(name);
    EXPECT_EQ(declared.in_proj, kernels.in_proj) << name;
    EXPECT_EQ(declared.conv, kernels.conv) << name;
    EXPECT_EQ(declared.qk_norm, kernels.qk_norm) << name;
    EXPECT_EQ(declared.delta_u, kernels.delta_u) << name;
    EXPECT_EQ(declared.delta_o, kernels.delta_o) << name;
    EXPECT_EQ(declared.gated_norm, kernels.gated_norm) << name;
    EXPECT_EQ(declared.out_proj, kernels.out_proj) << name;
    EXPECT_EQ(declared.q4_projection, kernels.q4_projection) << name;
    EXPECT_EQ(declared.q4_activation_bits, kernels.q4_activation_bits) << name;
    EXPECT_EQ(declared.functions, kernels.functions) << name;
    EXPECT_EQ(declared.qk_norm_form, kernels.qk_norm_form) << name;
    EXPECT_EQ(declared.gated_norm_form, kernels.gated_norm_form) << name;
    EXPECT_EQ(declared.mean, kernels.mean) << name;
    EXPECT_EQ(declared.q_scale, kernels.q_scale) << name;
    EXPECT_EQ(declared.gate_sum_form_below, kernels.gate_sum_form_below) << name;
    EXPECT_EQ(declared.decay, kernels.decay) << name;
  }
}

std::vector<std::string> engines_of_kernels() {
  std::vector<std::string> names = testing::engines_here();
  std::erase(names, "twin");
  return names;
}

class DeclaredOrder : public ::testing::TestWithParam<std::string> {};

TEST_P(DeclaredOrder, GivesTheBitsOfAProjection) {
  constexpr size_t rows = 8;
  const Reduction order = contract_of(GetParam()).in_proj;
  const Opened engine(testing::small_shape(), testing::observing(), GetParam());
  for (const size_t cols : {1, 5, 32, 255, 257, 300, 1024, 1500}) {
    Rng rng(cols);
    std::vector<float> x = drawn(rng, static_cast<int64_t>(cols));
    std::vector<float> weight = drawn(rng, static_cast<int64_t>(rows * cols));
    std::vector<float> y(rows);
    std::vector<float> want;
    for (size_t r = 0; r < rows; ++r) {
      want.push_back(walked_sum(order, std::span(weight).subspan(r * cols, cols), x));
    }
    ASSERT_EQ(apply(engine, GDN_IN_PROJ, testing::small_shape(),
                    {array("x", x), array("weight", weight)}, {array("y", y)}),
              GDN_OK)
        << engine.error();
    EXPECT_EQ(bits(y), bits(want)) << cols << " columns";
  }
}

INSTANTIATE_TEST_SUITE_P(Every, DeclaredOrder, ::testing::ValuesIn(engines_of_kernels()),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace gdn
