// Shapes, tensors and slices of bounded numbers.
#include "reference/shape.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "reference/bound.h"
#include "reference/tensor.h"

namespace gdn {
namespace {

Shape qwen35_27b() {
  return {.hidden_size = 5120,
          .num_k_heads = 16,
          .head_k_dim = 128,
          .num_v_heads = 48,
          .head_v_dim = 128,
          .conv_kernel = 4,
          .num_layers = 48};
}

TEST(Shapes, TheKnown27BShapeIsValidAndHasItsKnownSizes) {
  const Shape shape = qwen35_27b();
  EXPECT_EQ(why_invalid(shape), "");
  EXPECT_EQ(shape.conv_dim(), 10240);
  EXPECT_EQ(shape.v_heads_per_k_head(), 3);
  EXPECT_EQ(shape.state_count() * 4, 3 << 20);  // 3 MiB in float32
  EXPECT_EQ(element_count(Tensor::HIST, shape), 3 * 10240);
  EXPECT_EQ(element_count(Tensor::QKV, shape), 10240);
  EXPECT_EQ(element_count(Tensor::Q, shape), 2048);
  EXPECT_EQ(element_count(Tensor::V, shape), 6144);
  EXPECT_EQ(element_count(Tensor::BETA, shape), 48);
  EXPECT_EQ(element_count(Tensor::OUT, shape), 5120);
}

TEST(Shapes, AHistoryOfOneTapIsEmpty) {
  Shape shape = qwen35_27b();
  shape.conv_kernel = 1;
  EXPECT_EQ(why_invalid(shape), "");
  EXPECT_EQ(element_count(Tensor::HIST, shape), 0);
}

TEST(Shapes, EachWrongFieldIsNamedWithItsValue) {
  const auto reason = [](int64_t Shape::*field, int64_t value) {
    Shape shape = qwen35_27b();
    shape.*field = value;
    return why_invalid(shape);
  };
  EXPECT_EQ(reason(&Shape::hidden_size, 0), "hidden_size is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::num_k_heads, -1), "num_k_heads is -1; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::head_k_dim, 0), "head_k_dim is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::num_v_heads, 0), "num_v_heads is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::head_v_dim, 0), "head_v_dim is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::conv_kernel, 0), "conv_kernel is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::num_layers, 0), "num_layers is 0; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::hidden_size, int64_t{1} << 40),
            "hidden_size is 1099511627776; expected 1 to 1048576");
  EXPECT_EQ(reason(&Shape::num_v_heads, 40),
            "num_v_heads is 40; expected a multiple of num_k_heads, 16");
}

TEST(Shapes, AnEpsMustBeFiniteAndNotNegative) {
  Shape shape = qwen35_27b();
  shape.l2norm_eps = -1e-6F;
  EXPECT_EQ(why_invalid(shape),
            "l2norm_eps is -9.99999997e-07; expected a finite number, at least 0");
  shape.l2norm_eps = 0;
  shape.rms_norm_eps = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(why_invalid(shape), "rms_norm_eps is nan; expected a finite number, at least 0");
}

TEST(Tensors, HaveDistinctNamesThatReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < tensor_count; ++i) {
    const auto tensor = static_cast<Tensor>(i);
    EXPECT_TRUE(names.insert(name_of(tensor)).second);
    EXPECT_EQ(tensor_named(name_of(tensor)), tensor);
  }
  EXPECT_EQ(name_of(Tensor::QKV), "QKV");
  EXPECT_EQ(name_of(Tensor::HIST), "HIST");
  EXPECT_FALSE(tensor_named("qkv").has_value());
  EXPECT_FALSE(tensor_named("").has_value());
}

TEST(Operators, HaveNamesThatReadBackInTheOrderOfTheLayer) {
  EXPECT_EQ(name_of(Operator::in_proj), "in_proj");
  EXPECT_EQ(name_of(Operator::dequant), "dequant");
  for (int i = 0; i <= static_cast<int>(Operator::dequant); ++i) {
    const auto op = static_cast<Operator>(i);
    EXPECT_EQ(operator_named(name_of(op)), op);
  }
  EXPECT_FALSE(operator_named("norm").has_value());
}

TEST(Operators, EachTensorNamesItsMaker) {
  EXPECT_EQ(operator_of(Tensor::B), Operator::in_proj);
  EXPECT_EQ(operator_of(Tensor::G), Operator::gates);
  EXPECT_EQ(operator_of(Tensor::HIST), Operator::conv);
  EXPECT_EQ(operator_of(Tensor::V), Operator::conv);
  EXPECT_EQ(operator_of(Tensor::K), Operator::qk_norm);
  EXPECT_EQ(operator_of(Tensor::S), Operator::delta_rule);
  EXPECT_EQ(operator_of(Tensor::ONORM), Operator::gated_norm);
  EXPECT_EQ(operator_of(Tensor::OUT), Operator::out_proj);
}

TEST(BoundedNumbers, AsReadBackAreExact) {
  const Bounded numbers = exactly(std::vector<float>{1, -2, 0.1F});
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers.value[2], static_cast<double>(0.1F));
  EXPECT_EQ(numbers.bound_of(2), 0);
}

TEST(BoundedNumbers, SlicesKeepBoundsFormatAndTheirOwnToleratedResults) {
  const Bounded all{.value = {0, 1, 2, 3, 4},
                    .bound = {10, 11, 12, 13, 14},
                    .stored = Format::bf16,
                    .tolerated = {{0, 0, "before"}, {2, 7, "inside"}, {4, 0, "after"}}};
  const Bounded part = slice(all, 1, 3);
  EXPECT_EQ(part.value, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(part.bound, (std::vector<double>{11, 12, 13}));
  EXPECT_EQ(part.stored, Format::bf16);
  ASSERT_EQ(part.tolerated.size(), 1U);
  EXPECT_EQ(part.tolerated[0].index, 1U);
  EXPECT_EQ(part.tolerated[0].result, 7);
  EXPECT_TRUE(slice(exactly({1, 2}), 0, 1).bound.empty());
}

}  // namespace
}  // namespace gdn
