// What stages left becomes records, and shards together are the night that one run is.
#include "ci/night/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class StagesOf : public testing::Test {
 protected:
  StagesOf() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~StagesOf() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Night collected() const {
    Night night;
    night.machine.cpu = "a CPU";
    night.machine.gpu = "a GPU";
    collect_stages(folder_, night);
    return night;
  }
  std::string refusal() const {
    const Night night = collected();
    EXPECT_THAT(night.stages, SizeIs(1));
    if (night.stages.empty()) return "";
    EXPECT_EQ(night.stages[0].state, "failed");
    EXPECT_EQ(night.stages[0].status, exit_infrastructure);
    return night.stages[0].why;
  }

  std::filesystem::path folder_;
};

constexpr const char* a_check = R"({"rows": [
  {"invariant": "a", "engine": "twin", "holds": 5, "fails": 2, "undecided": 1, "suspicious": 0,
   "engine_errors": 1, "not_served": 4, "worst_ratio": "inf"}],
 "not_available": ["cuda: no GPU"], "not_asked": ["b: it needs cuda"], "never_applied": ["c"],
 "failures": [{"invariant": "a", "engine": "twin", "detail": "d", "text": "case", "replay": "r",
   "indices": [7]}, {"invariant": "a", "engine": "twin", "detail": "e", "text": "other",
   "replay": "s", "indices": [9, 12]}]})";

TEST_F(StagesOf, AFolderThatIsEmptySaysNothing) { EXPECT_EQ(print_records(collected()), ""); }

TEST_F(StagesOf, StagesAreReadWithTheirReasons) {
  write("stages.tsv", "doctor\tpassed\t0\t1\t60\t\ntests\tfailed\t8\t12\t900\tone of them\n");
  const Night night = collected();
  ASSERT_THAT(night.stages, SizeIs(2));
  EXPECT_EQ(night.stages[1].name, "tests");
  EXPECT_EQ(night.stages[1].state, "failed");
  EXPECT_EQ(night.stages[1].status, 8);
  EXPECT_EQ(night.stages[1].budget_seconds, 900);
  EXPECT_EQ(night.stages[1].why, "one of them");
}

TEST_F(StagesOf, FailuresOfCheckGetTheirDiagnosisByNumber) {
  write("check.json", a_check);
  write("triage.json", R"({"findings": [{"origin": "out/check.json, failure 2",
    "operator": "gates", "cause": "beta_from_a"}]})");
  const Night night = collected();
  ASSERT_THAT(night.findings, SizeIs(2));
  EXPECT_EQ(night.findings[0].diagnosis, "");
  EXPECT_EQ(night.findings[1].diagnosis, "beta_from_a");
  EXPECT_EQ(night.findings[1].op, "gates");
  EXPECT_THAT(night.findings[1].indices, ElementsAre("9", "12"));
  // Two that fail and one engine error, whichever were saved.
  EXPECT_EQ(night.findings[1].seen, 3U);
  ASSERT_THAT(night.gaps, SizeIs(3));
  EXPECT_EQ(night.gaps[0].what, "engine cuda");
  EXPECT_EQ(night.gaps[0].why, "no GPU");
  EXPECT_EQ(night.gaps[2].what, "invariant c");
}

// What check found of the same invariant on the same engine has its cause.
TEST_F(StagesOf, ARegressionThatIsBackIsAFindingUnlessCheckHasIt) {
  write("check.json", a_check);
  write("replay.json", R"({"failures": [
    {"invariant": "a", "engine": "twin", "verdict": "fails", "detail": "d", "file": "f",
     "text": "t", "replay": "r"},
    {"invariant": "a", "engine": "cuda", "verdict": "fails", "detail": "d", "file": "f.case",
     "text": "t", "replay": "r"},
    {"invariant": "a", "engine": "cuda", "verdict": "engine_error", "detail": "e",
     "file": "g.case", "text": "t", "replay": "r"}]})");
  const Night night = collected();
  ASSERT_THAT(night.findings, SizeIs(4));
  EXPECT_EQ(night.findings[2].engine, "cuda");
  EXPECT_EQ(night.findings[2].detail, "f.case: d");
  ASSERT_THAT(night.invariants, SizeIs(2));
  EXPECT_EQ(night.invariants[1].engine, "cuda");
  EXPECT_EQ(night.invariants[1].fails, 1U);
  EXPECT_EQ(night.invariants[1].engine_errors, 1U);
}

TEST_F(StagesOf, MutantsBenchesAndTheGpuAreRead) {
  write("matrix.json", R"({"rows": [
    {"mutant": "m", "operator": "conv", "survives": false, "killed_by": "a"},
    {"mutant": "n", "operator": "conv", "survives": true, "killed_by": ""}]})");
  write("bench.json", R"({"benchmarks": [
    {"name": "x", "run_name": "x", "run_type": "iteration", "cpu_time": 3.0, "time_unit": "us",
     "times_plain": 0.5},
    {"name": "x", "run_name": "x", "run_type": "iteration", "cpu_time": 1.0, "time_unit": "us",
     "times_plain": 1.5},
    {"name": "x", "run_name": "x", "run_type": "iteration", "cpu_time": 2.0, "time_unit": "us",
     "times_plain": 1.0},
    {"name": "x_mean", "run_name": "x", "run_type": "aggregate", "cpu_time": 9,
     "time_unit": "us"}]})");
  write("gpu/gpu.json", R"({"parts": [{"statements": [
      {"text": "all holds", "holds": true, "detail": ""},
      {"text": "bits are equal", "holds": false, "detail": "3 differ"}],
    "tables": [{"title": "t", "header": ["kernel", "median", "fastest", "slowest"],
      "rows": [["conv", 2.5, 2.25, 3]]}, {"title": "u", "header": ["a"], "rows": [[1]]}]}]})");
  const Night night = collected();
  ASSERT_THAT(night.mutants, SizeIs(2));
  EXPECT_EQ(night.mutants[0].state, "killed");
  EXPECT_EQ(night.mutants[1].state, "alive");
  ASSERT_THAT(night.benches, SizeIs(3));
  EXPECT_EQ(night.benches[0].median, 2);
  EXPECT_EQ(night.benches[0].slowest, 3);
  EXPECT_EQ(night.benches[0].machine, "a CPU");
  // A ratio: more is better.
  EXPECT_EQ(night.benches[1].name, "x times_plain");
  EXPECT_EQ(night.benches[1].median, 1);
  EXPECT_EQ(night.benches[1].fastest, 1.5);
  EXPECT_EQ(night.benches[2].name, "kernel conv");
  EXPECT_EQ(night.benches[2].median, 2.5);
  EXPECT_EQ(night.benches[2].machine, "a GPU");
  ASSERT_THAT(night.findings, SizeIs(1));
  EXPECT_EQ(night.findings[0].engine, "cuda");
}

TEST_F(StagesOf, FuzzTargetsAreCountedWithWhatTheyFound) {
  write("fuzz/fuzz_shapes/pieces", "100 2\n50 1\n");
  write("fuzz/fuzz_shapes/merged/a", "");
  write("fuzz/fuzz_shapes/faults/1/fault", "x");
  const Night night = collected();
  ASSERT_THAT(night.fuzz, SizeIs(1));
  EXPECT_EQ(night.fuzz[0].executions, 150U);
  EXPECT_EQ(night.fuzz[0].corpus_inputs, 1U);
  EXPECT_EQ(night.fuzz[0].findings, 1U);
  ASSERT_THAT(night.findings, SizeIs(1));
  EXPECT_EQ(night.findings[0].invariant, "fuzz_shapes");
}

// Else a finding of theirs would never be told fixed.
TEST_F(StagesOf, WhatCapturesFuzzersAndTheGpuWereAskedIsARecord) {
  write("oracles.0.json", R"({"engine": "twin", "complete": true, "ended": "",
    "command": "d verify o p --engine twin", "files": [{"path": "p", "rows": [
      {"source": "twin", "operator": "conv", "verdict": "holds", "detail": "", "worst_ratio": 0.5},
      {"source": "twin", "operator": "conv", "verdict": "fails", "detail": "d",
       "worst_ratio": "inf"}]}]})");
  write("gpu/gpu.json", R"({"parts": [{"tables": [], "statements": [
      {"text": "all holds", "holds": true, "detail": ""}]}]})");
  write("fuzz/fuzz_shapes/pieces", "100 2\n");
  const Night night = collected();
  ASSERT_THAT(night.invariants, SizeIs(3));
  EXPECT_EQ(night.invariants[0].engine, "twin");
  EXPECT_EQ(night.invariants[0].holds, 1U);
  EXPECT_EQ(night.invariants[0].fails, 1U);
  EXPECT_EQ(night.invariants[1].invariant, "all holds");
  EXPECT_EQ(night.invariants[1].holds, 1U);
  EXPECT_EQ(night.invariants[2].invariant, "fuzz_shapes");
  EXPECT_EQ(night.invariants[2].holds, 1U);
  ASSERT_THAT(night.findings, SizeIs(1));
  EXPECT_EQ(night.findings[0].invariant, night.invariants[0].invariant);
  EXPECT_EQ(night.findings[0].replay, "d verify p --engine twin") << "the one capture alone";
}

TEST_F(StagesOf, WhatIsDamagedNamesItsFile) {
  write("check.json", "{");
  EXPECT_THAT(refusal(), HasSubstr("check.json"));
  write("check.json", a_check);
  write("triage.json",
        R"({"findings": [{"origin": "x, failure 3", "operator": "", "cause": ""}]})");
  EXPECT_THAT(refusal(), HasSubstr("failure 3 is not in check.json"));
  std::filesystem::remove(folder_ / "triage.json");
  write("stages.tsv", "doctor\n");
  EXPECT_THAT(refusal(), HasSubstr("stages.tsv"));
}

// 1.5 would be one, and -1 more than there can be.
TEST_F(StagesOf, CountsThatAreNoneAreSaidInWords) {
  std::string text = a_check;
  text.replace(text.find("\"holds\": 5"), 10, "\"holds\": 1.5");
  write("check.json", text);
  EXPECT_THAT(refusal(), HasSubstr("'holds': expected a whole number from 0, got 1.5"));
  text = a_check;
  text.replace(text.find("[9, 12]"), 7, "[-9]");
  write("check.json", text);
  EXPECT_THAT(refusal(), HasSubstr("'indices': expected a whole number from 0, got -9"));
  std::filesystem::remove(folder_ / "check.json");
  write("fuzz/fuzz_shapes/pieces", "1.5 2\n");
  EXPECT_THAT(refusal(), HasSubstr("executions: expected a whole number from 0, got '1.5'"));
  std::filesystem::remove_all(folder_ / "fuzz");
  write("stages.tsv", "doctor\tpassed\t0\t1.5\t60\t\n");
  EXPECT_THAT(refusal(), HasSubstr("seconds: expected a whole number from 0, got '1.5'"));
}

TEST_F(StagesOf, OutcomesOfConditionsAreCountedByFolder) {
  write("coverage/outcomes.tsv",
        "device/twin/conv.cpp\t7\t9\ttrue\t1\tif (a)\n"
        "device/twin/conv.cpp\t7\t9\tfalse\t0\tif (a)\n"
        "device/host/api.cpp\t3\t1\ttrue\t1\ttab\there\n");
  const Night night = collected();
  ASSERT_THAT(night.coverage, SizeIs(2));
  EXPECT_EQ(night.coverage[0].what, "outcomes of conditions in device/host");
  EXPECT_EQ(night.coverage[1].covered, 1U);
  EXPECT_EQ(night.coverage[1].total, 2U);
}

// A benchmark that is killed leaves half a file; a negative count would be refused by the reader.
TEST_F(StagesOf, WhatIsDamagedTakesNothingElseAway) {
  write("check.json", a_check);
  write("bench.json", R"({"benchmarks": [{"name": "x", "cpu_time": 1,)");
  // As JSON it can be read, as a record not: no time is below 0.
  write("gpu/gpu.json", R"({"parts": [{"statements": [], "tables": [{"header": ["kernel", "median",
    "fastest", "slowest"], "rows": [["conv", 1, 1, 1], ["gates", 1, -1, 1]]}]}]})");
  const Night night = collected();
  EXPECT_THAT(night.findings, SizeIs(2));
  EXPECT_THAT(night.benches, SizeIs(0));
  ASSERT_THAT(night.stages, SizeIs(2));
  EXPECT_EQ(night.stages[0].name, "collect bench.json");
  EXPECT_EQ(night.stages[1].name, "collect gpu/gpu.json");
  std::string why;
  Night read_back;
  EXPECT_TRUE(add_records(print_records(night), read_back, &why)) << why;
}

NightFinding a_finding(std::vector<std::string> indices, const std::string& text) {
  NightFinding finding;
  finding.invariant = "a";
  finding.engine = "twin";
  finding.indices = std::move(indices);
  finding.case_text = text;
  return finding;
}

Night a_shard(int index, std::vector<NightFinding> findings, size_t fails) {
  Night night;
  night.id = "n";
  night.shard_index = index;
  night.shard_count = 2;
  night.complete = true;
  night.status = findings.empty() ? 0 : 1;
  night.invariants = {{"twin", "a", 10, fails, 0, 0, 0, 0, 0.5}};
  night.findings = std::move(findings);
  night.stages = {{"oracles", index == 1 ? "passed" : "not_run", 0, 3, 60, ""}};
  return night;
}

// One run saves the first three cases of an invariant on an engine, those that lead to one smallest
// case as one: 0 and 1 here, and 2; 7 and 8 came too late.
TEST(Shards, TogetherKeepTheFindingsOfOneRun) {
  std::string why;
  const std::optional<Night> whole =
      merged({a_shard(2, {a_finding({"1", "9"}, "x"), a_finding({"7"}, "v")}, 5),
              a_shard(1, {a_finding({"0"}, "x"), a_finding({"2"}, "y"), a_finding({"8"}, "w")}, 3)},
             &why);
  ASSERT_TRUE(whole) << why;
  ASSERT_THAT(whole->findings, SizeIs(2));
  EXPECT_THAT(whole->findings[0].indices, ElementsAre("0", "1"));
  EXPECT_EQ(whole->findings[0].case_text, "x");
  EXPECT_THAT(whole->findings[1].indices, ElementsAre("2"));
  EXPECT_EQ(whole->findings[0].seen, 8U);
  ASSERT_THAT(whole->invariants, SizeIs(1));
  EXPECT_EQ(whole->invariants[0].holds, 20U);
  EXPECT_EQ(whole->invariants[0].fails, 8U);
  ASSERT_THAT(whole->stages, SizeIs(1));
  EXPECT_EQ(whole->stages[0].state, "passed");
  EXPECT_TRUE(whole->complete);
  EXPECT_EQ(whole->status, 1);
  EXPECT_EQ(whole->shard_count, 1);
}

TEST(Shards, OfDifferentNightsAreRefused) {
  std::string why;
  Night other = a_shard(2, {}, 0);
  other.id = "m";
  EXPECT_FALSE(merged({a_shard(1, {}, 0), other}, &why));
  EXPECT_THAT(why, HasSubstr("another night"));
  EXPECT_FALSE(merged({a_shard(1, {}, 0), a_shard(1, {}, 0)}, &why));
  EXPECT_THAT(why, HasSubstr("twice"));
}

TEST(Shards, WhereOneIsMissingAreNoWholeNight) {
  std::string why;
  const std::optional<Night> part = merged({a_shard(1, {}, 0)}, &why);
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->complete);
}

}  // namespace
}  // namespace gdn
