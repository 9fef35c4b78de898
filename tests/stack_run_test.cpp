// stack-run: what it judges is judged from what the engine held before, what it says does not hang
// on threads, and a fault is found with its layer and token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ci/stack_engine.h"
#include "ci/stack_queue.h"
#include "ci/stack_run.h"
#include "ci/stack_weights.h"
#include "reference/layer.h"
#include "tests/program_run.h"
#include "tests/row_sums_by_lanes.h"

namespace gdn {
namespace {

using testing::HasSubstr;

// Projections so wide that nothing is walked: 544 columns.
Shape wide_shape(int64_t layers) {
  return {.hidden_size = 544,
          .num_k_heads = 1,
          .head_k_dim = 32,
          .num_v_heads = 17,
          .head_v_dim = 32,
          .conv_kernel = 4,
          .num_layers = layers};
}

EngineSource engine_named(const char* name) {
  std::string why;
  return find_engine(name, &why).value();
}

StackReport judged(const StackRun& run, const char* engine) {
  return judge_stack_run(run, engine_named(engine), [](int64_t) {});
}

const StackRow& row_of(const StackReport& report, Tensor tensor) {
  for (const StackRow& row : report.rows) {
    if (row.tensor == tensor) return row;
  }
  throw std::runtime_error("no such row");
}

TEST(StackRun, ATokenIsJudgedFromTheOneBefore) {
  const Shape shape = wide_shape(1);
  const EngineSource source = engine_named("simt");
  const LayerNumbers numbers = stack_weights(shape, 3, 0);
  StackEngine engine(source, shape);
  engine.load(0, numbers);
  LayerInputs inputs{.shape = shape,
                     .dialect = source.description.dialect,
                     .weights = view_of(numbers, shape),
                     .h = {},
                     .calls = {}};
  std::vector<TokenTensors> seen;
  for (int64_t t = 0; t < 5; ++t) {
    inputs.h.push_back(stack_input(shape, 3, t));
    seen.push_back(engine.step(t, 0, inputs.h.back()).value());
  }
  const Contract& contract = source.description.contract;
  const std::vector<TokenExpectation> whole = expect_local(inputs, seen, contract);
  for (size_t t = 1; t < seen.size(); ++t) {
    LayerInputs one = inputs;
    one.h = {inputs.h[t]};
    const TokenExpectation alone = expect_local(one, {seen[t]}, contract, &seen[t - 1]).front();
    ASSERT_EQ(alone.size(), whole[t].size());
    for (const auto& [tensor, want] : alone) {
      EXPECT_EQ(want.value, whole[t].at(tensor).value) << name_of(tensor);
      EXPECT_EQ(want.bound, whole[t].at(tensor).bound) << name_of(tensor);
    }
  }
  // Two tokens after one that is given: a history of which one part is older.
  LayerInputs two = inputs;
  two.h = {inputs.h[2], inputs.h[3]};
  std::vector<TokenTensors> lacking = {seen[2], seen[3]};
  for (TokenTensors& token : lacking) token.erase(Tensor::HIST);
  const auto later = expect_local(two, lacking, contract, &seen[1]);
  EXPECT_EQ(later[1].at(Tensor::HIST).value, whole[3].at(Tensor::HIST).value);
  EXPECT_EQ(later[1].at(Tensor::S).value, whole[3].at(Tensor::S).value);
  // A state that is nobody's is no state to judge from.
  TokenTensors stateless = seen[1];
  stateless.erase(Tensor::S);
  EXPECT_FALSE(expect_local(two, lacking, contract, &stateless)[0].contains(Tensor::S));
}

TEST(StackRun, EveryTensorOfEveryTokenAndLayerIsJudged) {
  const Shape shape = wide_shape(3);
  const StackReport report = judged({.shape = shape, .tokens = 4, .threads = 2}, "simt");
  EXPECT_TRUE(report.verdict.holds()) << report.first_failure << report.conduct.detail;
  EXPECT_EQ(report.token_layers, 12);
  EXPECT_EQ(report.failing, 0);
  ASSERT_EQ(report.rows.size(), static_cast<size_t>(tensor_count));
  for (const StackRow& row : report.rows) {
    EXPECT_TRUE(row.verdict.holds()) << name_of(row.tensor);
    EXPECT_EQ(row.verdict.elements, 12 * static_cast<size_t>(element_count(row.tensor, shape)));
    EXPECT_LE(row.verdict.worst_ratio, 1);
  }
  EXPECT_GT(row_of(report, Tensor::S).verdict.worst_ratio, 0);
}

// h neither vanishes nor grows from layer to layer, and neither does the state.
TEST(StackRun, LayersPassOnNumbersOfOneSize) {
  const Shape shape = wide_shape(8);
  StackEngine engine(engine_named("simt"), shape);
  std::vector<float> h = stack_input(shape, 1, 0);
  for (int64_t layer = 0; layer < shape.num_layers; ++layer) {
    engine.load(layer, stack_weights(shape, 1, layer));
    h = engine.step(0, layer, h).value().at(Tensor::OUT);
    double squares = 0;
    for (const float x : h) squares += static_cast<double>(x) * x;
    EXPECT_GT(squares, 544 * 0x1p-6) << layer;
    EXPECT_LT(squares, 544 * 0x1p6) << layer;
  }
}

TEST(StackRun, ThreadsChangeNothing) {
  const StackRun one{.shape = wide_shape(2), .tokens = 3, .seed = 5, .threads = 1};
  StackRun many = one;
  many.threads = 7;
  const StackReport a = judged(one, "simt"), b = judged(many, "simt");
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].verdict.worst_ratio, b.rows[i].verdict.worst_ratio);
    EXPECT_EQ(a.rows[i].layer, b.rows[i].layer);
    EXPECT_EQ(a.rows[i].token, b.rows[i].token);
    EXPECT_EQ(a.rows[i].verdict.worst_index, b.rows[i].verdict.worst_index);
  }
}

TEST(StackRun, RowsSummedUpElsewhereGiveTheSameVerdicts) {
  LanesForGpu lanes;
  StackRun run{.shape = wide_shape(2), .tokens = 3, .threads = 2};
  const StackReport cpu = judged(run, "simt");
  run.sums = &lanes;
  const StackReport other = judged(run, "simt");
  EXPECT_EQ(cpu.rows_elsewhere, 0);
  EXPECT_EQ(other.rows_elsewhere, 6 * (608 + 544 + 544));
  EXPECT_EQ(other.rows_again, 0);
  for (const StackRow& row : cpu.rows) {
    const StackRow& same = row_of(other, row.tensor);
    EXPECT_EQ(same.verdict.outcome, row.verdict.outcome);
    EXPECT_EQ(same.verdict.elements, row.verdict.elements);
    EXPECT_NEAR(same.verdict.worst_ratio, row.verdict.worst_ratio, 1e-6);
  }
}

TEST(StackRun, AFaultOfOneLayerFailsWithItsPlace) {
  const StackReport report =
      judged({.shape = wide_shape(2), .tokens = 2, .threads = 2}, "mutant:error_before_decay");
  EXPECT_EQ(report.verdict.outcome, Outcome::fails);
  EXPECT_EQ(report.token_layers, 4);
  // From a state of zero there is nothing that decays.
  EXPECT_EQ(report.failing, 2);
  EXPECT_THAT(report.first_failure, HasSubstr("S of token 1, layer 0"));
  EXPECT_EQ(row_of(report, Tensor::S).token, 1);
  EXPECT_TRUE(row_of(report, Tensor::QKV).verdict.holds());
}

// A state that is another one when the next token comes is seen, though each token is judged alone.
TEST(StackRun, AStateThatIsNotKeptFails) {
  const StackReport report = judged({.shape = wide_shape(2), .tokens = 3, .threads = 2},
                                    "mutant:history_shared_between_layers");
  EXPECT_EQ(report.verdict.outcome, Outcome::fails);
  EXPECT_THAT(report.first_failure, HasSubstr(" of token "));
}

// Sums that cannot be had end the run.
class NoSums final : public GpuRowSums {
  struct None final : RowSums {
    void take(const RowInputs&, std::span<RowSum>) const override { throw GpuFailure("lost"); }
  };
  std::unique_ptr<RowSums> of_tiles(const uint8_t*, int64_t, int64_t) override {
    return std::make_unique<None>();
  }
};

TEST(StackRun, AGpuThatIsLostEndsTheRun) {
  NoSums none;
  const StackRun run{.shape = wide_shape(2), .tokens = 8, .seed = 1, .threads = 2, .sums = &none};
  EXPECT_THROW(judged(run, "simt"), GpuFailure);
}

TEST(StackRun, AQueueGivesInOrderAndEnds) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.put(1));
  EXPECT_TRUE(queue.put(2));
  EXPECT_EQ(queue.take(), 1);
  queue.close();
  EXPECT_FALSE(queue.put(3));
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), std::nullopt);
}

class StackRunCli : public ProgramTest {
 protected:
  nlohmann::json json_of(const std::string& arguments, int status = 0) const {
    const Ran ran = run("stack-run --shape small --layers 2 --tokens 3 " + arguments + " --json " +
                        path("report.json"));
    EXPECT_EQ(ran.status, status) << ran.output;
    return nlohmann::json::parse(content("report.json"), nullptr, false);
  }
};

TEST_F(StackRunCli, UsageErrorsAreStatus2) {
  EXPECT_EQ(run("stack-run --tokens 0").status, 2);
  EXPECT_EQ(run("stack-run --shape huge").status, 2);
  EXPECT_EQ(run("stack-run --sums abacus").status, 2);
  EXPECT_EQ(run("stack-run --engine no_such_engine").status, 2);
  EXPECT_THAT(run("stack-run --engine twin --seed 12xy").output, HasSubstr("--seed: expected"));
}

TEST_F(StackRunCli, TheReportHasEveryTensor) {
  for (const char* const engine : {"twin", "simt"}) {
    const nlohmann::json report = json_of(std::string("--sums cpu --engine ") + engine);
    EXPECT_EQ(report.at("format"), "deltaproof-stack-run");
    EXPECT_EQ(report.at("verdict"), "holds");
    EXPECT_EQ(report.at("judged"), 6);
    EXPECT_EQ(report.at("failing"), 0);
    EXPECT_EQ(report.at("row_sums"), "cpu");
    EXPECT_EQ(report.at("tensors").size(), 15U);
    EXPECT_EQ(report, json_of(std::string("--sums cpu --threads 3 --engine ") + engine));
  }
}

TEST_F(StackRunCli, AFaultIsStatus1WithWhatWhereAndACommand) {
  const Ran ran =
      run("stack-run --shape small --layers 2 --tokens 3 --sums cpu "
          "--engine mutant:decay_of_the_next_head");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("fails: G of token 0, layer 0"));
  EXPECT_THAT(ran.output, HasSubstr("got "));
  EXPECT_THAT(ran.output, HasSubstr("want "));
  EXPECT_THAT(ran.output, HasSubstr("replay: "));
  const nlohmann::json report = json_of("--sums cpu --engine mutant:decay_of_the_next_head", 1);
  EXPECT_EQ(report.at("verdict"), "fails");
  EXPECT_THAT(report.at("first_failure"), HasSubstr("G of token 0, layer 0"));
}

// An engine that serves too little of the interface is not judged, and that is not green.
TEST_F(StackRunCli, NothingJudgedIsStatus1) {
  const Ran ran = run(std::string("stack-run --shape small --layers 1 --tokens 1 --sums cpu "
                                  "--engine ") +
                      PLUGIN_DIR + "/only_dequant.so");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("not_applicable: the engine has no pool_init"));
}

// With or without a GPU the report says who summed up; without one --sums gpu is status 5.
TEST_F(StackRunCli, WhoSumsUpIsSaid) {
  std::string why;
  const bool has_gpu = GpuRowSums::open(&why) != nullptr;
  const Ran asked = run("stack-run --shape small --layers 1 --tokens 1 --engine simt --sums gpu");
  const Ran any = run("stack-run --shape small --layers 1 --tokens 1 --engine simt --sums auto");
  EXPECT_EQ(any.status, 0) << any.output;
  if (has_gpu) {
    EXPECT_EQ(asked.status, 0) << asked.output;
    EXPECT_THAT(any.output, HasSubstr("rows are summed up by the GPU"));
  } else {
    EXPECT_EQ(asked.status, 5) << asked.output;
    EXPECT_THAT(asked.output, HasSubstr("--sums gpu: " + why));
    EXPECT_THAT(any.output, HasSubstr("rows are summed up by the CPU (" + why));
  }
}

}  // namespace
}  // namespace gdn
