// Every capture in the corpus holds with every engine that works here; read in another dialect, it
// fails.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "invariants/harness/verify.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string oracle(const std::string& name) {
  return SOURCE_DIR "/corpus/oracle/" + name + ".safetensors";
}

std::vector<std::string> every_capture() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/corpus/oracle")) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Lab lab_of(const std::string& engine) {
  std::string why;
  const auto source = find_engine(engine, &why);
  EXPECT_TRUE(source.has_value()) << why;
  return Lab(source.value());
}

VerifyReport report_of(const std::string& name, const VerifyOptions& options) {
  std::string why;
  const auto report = verify_file(oracle(name), options, &why);
  EXPECT_TRUE(report.has_value()) << why;
  return report.value_or(VerifyReport{});
}

std::string line_of(const VerifyRow& row) {
  return row.judgement.source + " " + std::string(name_of(row.scope)) + " " + row.judgement.tensor +
         ": " + std::string(name_of(row.judgement.verdict.outcome)) + " " +
         row.judgement.verdict.detail;
}

// Of the rows with this source and tensor, local ones; the worst if there are several.
Outcome outcome_of(const VerifyReport& report, const std::string& source,
                   const std::string& tensor) {
  Outcome worst = Outcome::not_applicable;
  for (const VerifyRow& row : report.rows) {
    const bool asked = row.judgement.source == source && row.judgement.tensor == tensor;
    if (!asked || row.scope != Scope::local) continue;
    worst = worst == Outcome::not_applicable ? row.judgement.verdict.outcome
                                             : std::max(worst, row.judgement.verdict.outcome);
  }
  return worst;
}

// Not simt_checked: it runs the same kernels as simt, many times slower.
std::vector<std::string> engines_to_verify() {
  std::vector<std::string> engines = testing::engines_here();
  std::erase(engines, "simt_checked");
  return engines;
}

class EveryCapture : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(EveryCapture, HoldsWithTheEngineOnTheSameNumbers) {
  const auto& [capture, engine] = GetParam();
  const Lab lab = lab_of(engine);
  VerifyOptions options;
  options.lab = &lab;
  const VerifyReport report = report_of(capture, options);
  bool capture_judged = false;
  bool engine_judged = false;
  for (const VerifyRow& row : report.rows) {
    EXPECT_TRUE(row.judgement.verdict.holds()) << line_of(row);
    EXPECT_EQ(row.judgement.verdict.undecided, 0U) << line_of(row);
    EXPECT_GT(row.judgement.verdict.elements, 0U) << line_of(row);
    capture_judged = capture_judged || row.judgement.source == "capture";
    engine_judged = engine_judged || row.judgement.source == engine;
  }
  EXPECT_TRUE(capture_judged);
  EXPECT_TRUE(engine_judged);
}

INSTANTIATE_TEST_SUITE_P(Corpus, EveryCapture,
                         ::testing::Combine(::testing::ValuesIn(every_capture()),
                                            ::testing::ValuesIn(engines_to_verify())),
                         [](const auto& both) {
                           return std::get<0>(both.param) + "_with_" + std::get<1>(both.param);
                         });

TEST(Oracle, AllTenCapturesAreThere) { EXPECT_EQ(every_capture().size(), 10U); }

TEST(Oracle, EveryTensorOfALayerIsJudgedLocallyAndGlobally) {
  const VerifyReport report = report_of("gdn_tiny_decode", {});
  for (const Scope scope : {Scope::local, Scope::global}) {
    std::vector<std::string> judged;
    for (const VerifyRow& row : report.rows) {
      if (row.scope == scope) judged.push_back(row.judgement.tensor);
    }
    EXPECT_THAT(judged, ::testing::ElementsAre("QKV", "Z", "A", "B", "BETA", "G", "CONV", "O", "S",
                                               "ONORM", "OUT"));
  }
}

TEST(Oracle, TheEnginesStateAndHistoryAreJudgedAfterEveryToken) {
  const Lab twin = lab_of("twin");
  VerifyOptions options;
  options.lab = &twin;
  size_t found = 0;
  for (const VerifyRow& row : report_of("gdn_tiny_decode", options).rows) {
    const Judgement& judged = row.judgement;
    if (judged.source != "twin" || (judged.tensor != "S" && judged.tensor != "HIST")) continue;
    EXPECT_EQ(judged.tokens, 9U);
    ++found;
  }
  EXPECT_EQ(found, 4U);
}

TEST(Oracle, ATraceUnderAnotherHeadMapOrLayoutFails) {
  std::string why;
  const auto capture = read_capture(oracle("ggml_gdn_cpu"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const Dialect right = std::get<TraceCapture>(capture->content).dialect;

  VerifyOptions options;
  options.dialect = right;
  EXPECT_EQ(outcome_of(report_of("ggml_gdn_cpu", options), "capture", "O"), Outcome::holds);
  options.dialect->head_map = Dialect::HeadMap::grouped;
  EXPECT_EQ(outcome_of(report_of("ggml_gdn_cpu", options), "capture", "O"), Outcome::fails);
  options.dialect = right;
  options.dialect->state_layout = Dialect::StateLayout::kv;
  EXPECT_EQ(outcome_of(report_of("ggml_gdn_cpu", options), "capture", "O"), Outcome::fails);
  EXPECT_EQ(outcome_of(report_of("ggml_gdn_cpu", options), "capture", "S"), Outcome::fails);
}

TEST(Oracle, ATraceInEveryOtherPresetFailsAndNamesAnElement) {
  for (const std::string_view name : {"deltaproof", "fla", "hf"}) {
    VerifyOptions options;
    options.dialect = dialect_named(name);
    ASSERT_TRUE(options.dialect.has_value());
    const VerifyReport report = report_of("ggml_gdn_cpu", options);
    EXPECT_EQ(outcome_of(report, "capture", "O"), Outcome::fails) << name;
    EXPECT_THAT(report.rows.front().judgement.verdict.detail, HasSubstr("want")) << name;
  }
}

TEST(Oracle, AnEngineFollowsAForeignDialectWhereTheCaptureDoesNot) {
  // The engine is asked for the same wrong conventions, and follows them.
  const Lab twin = lab_of("twin");
  VerifyOptions options;
  options.lab = &twin;
  options.dialect = dialect_named("deltaproof");
  const VerifyReport report = report_of("ggml_gdn_cpu", options);
  EXPECT_EQ(outcome_of(report, "capture", "O"), Outcome::fails);
  EXPECT_EQ(outcome_of(report, "twin", "O"), Outcome::holds);
}

TEST(Oracle, BetaRoundedToBf16FailsLayersOfAFloat32Model) {
  for (const char* name : {"gdn_tiny_decode", "gdn_small_prefill_decode"}) {
    VerifyOptions options;
    options.dialect = dialect_named("hf");
    const VerifyReport report = report_of(name, options);
    EXPECT_EQ(outcome_of(report, "capture", "BETA"), Outcome::fails) << name;
    EXPECT_EQ(outcome_of(report, "capture", "G"), Outcome::holds) << name;
  }
}

TEST(Oracle, AMutantFailsAtTheOperatorOfItsBug) {
  const Lab mutant = lab_of("mutant:error_before_decay");
  VerifyOptions options;
  options.lab = &mutant;
  const VerifyReport report = report_of("gdn_tiny_decode", options);
  const std::string source = mutant.engine();
  EXPECT_EQ(outcome_of(report, source, "S"), Outcome::fails);
  for (const char* sound : {"QKV", "BETA", "G", "CONV", "Q", "K", "O", "ONORM", "OUT"}) {
    EXPECT_EQ(outcome_of(report, source, sound), Outcome::holds) << sound;
  }
}

TEST(Oracle, ProgressGrowsFromNothingToAll) {
  std::vector<double> done;
  VerifyOptions options;
  options.progress = [&](std::string_view, double part) { done.push_back(part); };
  report_of("gdn_tiny_decode", options);
  ASSERT_GE(done.size(), 3U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.front(), 0.0);
  EXPECT_EQ(done.back(), 1.0);
}

TEST(Oracle, AFileThatIsNoCaptureIsOneLine) {
  std::string why;
  EXPECT_FALSE(verify_file(SOURCE_DIR "/CMakeLists.txt", {}, &why).has_value());
  EXPECT_THAT(why, ::testing::AllOf(HasSubstr("CMakeLists.txt"), HasSubstr("expected")));
  EXPECT_EQ(why.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace gdn
