// check, replay, matrix and list as a person or a script meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

class CheckCli : public ProgramTest {
 protected:
  // The only .case file below a folder.
  std::string only_case(const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path(name))) {
      if (entry.path().extension() == ".case") found.push_back(entry.path().string());
    }
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? "" : found.front();
  }
  Ran check(const std::string& arguments) const {
    return run("check --out " + path("out") + " " + arguments);
  }
};

constexpr const char* tiny_layer =
    "deltaproof-case 1\nsubject layer\nseed 3\nshape hidden_size=4 num_k_heads=1 head_k_dim=2 "
    "num_v_heads=1 head_v_dim=2 conv_kernel=2 num_layers=1 rms_norm_eps=1e-06 "
    "l2norm_eps=1e-06\ndialect deltaproof\ntokens 2\n";
constexpr const char* tiny_dequant =
    "deltaproof-case 1\nsubject dequant\nseed 3\nshape hidden_size=1 num_k_heads=1 head_k_dim=1 "
    "num_v_heads=1 head_v_dim=1 conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 "
    "l2norm_eps=1e-06\ndialect deltaproof\nmatrix rows=4 cols=32\n";

TEST_F(CheckCli, UsageErrorsAreStatus2AndSayWhatThereIs) {
  EXPECT_EQ(run("check --no-such-option").status, 2);
  EXPECT_EQ(run("check --cases many").status, 2);
  EXPECT_EQ(run("check --jobs 0").status, 2);
  EXPECT_EQ(run("replay").status, 2);
  EXPECT_EQ(run("list nonsense").status, 2);
  const Ran seed = check("--seed 12xy");
  EXPECT_EQ(seed.status, 2);
  EXPECT_THAT(seed.output, HasSubstr("--seed: expected"));
  const Ran invariant = check("--invariant no_such_claim");
  EXPECT_EQ(invariant.status, 2);
  EXPECT_THAT(invariant.output, HasSubstr("rerun_is_bit_identical"));
  EXPECT_EQ(check("--engine no_such_engine").status, 2);
  EXPECT_EQ(check("--corpus " + path("absent")).status, 2);
  EXPECT_EQ(run("matrix --mutant no_such_mutant").status, 2);
  EXPECT_EQ(run("matrix --mutant q_scale_twice --summary " + path("x.md")).status, 2);
  const Ran none = run("matrix --drawn-only --until-killed");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.output, HasSubstr("--drawn-only needs --cases"));
  EXPECT_EQ(run("matrix --drawn-only --cases 1 --seeds " + path("seeds")).status, 2);
  EXPECT_EQ(run("matrix --until-killed --summary " + path("x.md")).status, 2);
}

TEST_F(CheckCli, ASeedMayBeACommitsHash) {
  const Ran ran = check("--seed 8ef34f6f --cases 3 --invariant rerun_is_bit_identical");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("seed "));
  EXPECT_THAT(ran.output, HasSubstr("--seed "));
}

TEST_F(CheckCli, ARightEngineIsStatus0WithCountsAndRegimes) {
  const Ran ran = check("--invariant rerun_is_bit_identical --cases 12 --json " +
                        path("check.json") + " --markdown " + path("check.md"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("seed 1: 12 drawn cases, engines twin, simt"));
  EXPECT_THAT(ran.output, HasSubstr("24 hold, 0 fail"));
  EXPECT_THAT(ran.output, HasSubstr("regime"));
  const auto json = nlohmann::json::parse(content("check.json"));
  EXPECT_EQ(json.at("format"), "deltaproof-check");
  EXPECT_EQ(json.at("status"), 0);
  EXPECT_EQ(json.at("rows").size(), 2U);
  EXPECT_EQ(json.at("rows").at(0).at("holds"), 12);
  EXPECT_TRUE(json.at("failures").empty());
  EXPECT_THAT(content("check.md"), HasSubstr("| rerun_is_bit_identical | twin | 12 |"));
}

TEST_F(CheckCli, WhatItFindsDoesNotDependOnTheNumberOfProcesses) {
  const std::string what =
      "--cases 30 --engine mutant:beta_from_a --engine simt --invariant "
      "operators_within_bound --invariant rerun_is_bit_identical --out " +
      path("out");
  const Ran one = run("check --jobs 1 " + what + " --json " + path("one.json"), "2>/dev/null");
  const std::string records = content("out/failures.jsonl");
  const Ran two = run("check --jobs 2 " + what + " --json " + path("two.json"), "2>/dev/null");
  EXPECT_EQ(one.status, 1);
  EXPECT_EQ(one.output, two.output);
  EXPECT_EQ(content("one.json"), content("two.json"));
  EXPECT_EQ(records, content("out/failures.jsonl"));
}

TEST_F(CheckCli, AFailureIsSavedSmallAndReplaysToTheSame) {
  const Ran ran = check(
      "--cases 30 --engine mutant:beta_from_a --invariant layer_within_bound "
      "--json " +
      path("check.json"));
  ASSERT_EQ(ran.status, 1) << ran.output;
  const auto failure = nlohmann::json::parse(content("check.json")).at("failures").at(0);
  const std::string file = failure.at("file");
  EXPECT_THAT(file, HasSubstr("/layer_within_bound_"));
  EXPECT_THAT(ran.output, HasSubstr("replay: " + std::string(failure.at("replay"))));
  const std::string saved = content("out/" + std::filesystem::path(file).filename().string());
  EXPECT_THAT(saved, HasSubstr("# fails: layer_within_bound on mutant:beta_from_a: "));
  EXPECT_THAT(saved, HasSubstr("of seed 1, made smaller in"));
  const Ran again =
      run("replay " + file + " --invariant layer_within_bound --engine mutant:beta_from_a");
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.output, HasSubstr(std::string(failure.at("detail"))));
  EXPECT_THAT(again.output, HasSubstr("case " + std::string(failure.at("case"))));
  EXPECT_EQ(run("replay " + file + " --invariant layer_within_bound").status, 0);
  const auto record = nlohmann::json::parse(
      content("out/failures.jsonl").substr(0, content("out/failures.jsonl").find('\n')));
  EXPECT_EQ(record.at("outcome"), "fails");
}

TEST_F(CheckCli, AnInvariantThatNeverAppliedIsAnErrorAndNotAPass) {
  const Ran ran = check("--cases 0 --invariant rerun_is_bit_identical");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("error: rerun_is_bit_identical never applied"));
  // Beside another that holds, too.
  write("corpus/seeds/dequant/one.case", tiny_dequant);
  write("corpus/regressions/rerun_is_bit_identical/none.case", tiny_dequant);
  const Ran mixed = check("--cases 0 --corpus " + path("corpus") +
                          " --invariant dequant_is_exact --invariant layer_within_bound");
  EXPECT_EQ(mixed.status, 1) << mixed.output;
  EXPECT_THAT(mixed.output, HasSubstr("error: layer_within_bound never applied"));
  EXPECT_THAT(mixed.output, Not(HasSubstr("dequant_is_exact never applied")));
}

TEST_F(CheckCli, WhatAPartialEngineLacksIsNoError) {
  write("corpus/seeds/dequant/one.case", tiny_dequant);
  write("corpus/regressions/layer_within_bound/one.case", tiny_layer);
  const Ran ran = check("--cases 0 --corpus " + path("corpus") + " --engine " + PLUGIN_DIR +
                        "/example_plugin.so --invariant dequant_is_exact --invariant "
                        "layer_within_bound");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("no engine serves what it asks for (1): layer_within_bound"));
}

TEST_F(CheckCli, AHundredNamesAreLinesThatCanBeRead) {
  write("corpus/seeds/dequant/one.case", tiny_dequant);
  write("corpus/regressions/dequant_is_exact/two.case", tiny_dequant);
  const Ran ran = check("--cases 20 --corpus " + path("corpus") + " --engine " + PLUGIN_DIR +
                        "/only_dequant.so");
  const size_t at = ran.output.find("not asked, no engine serves what it asks for (");
  ASSERT_NE(at, std::string::npos) << ran.output;
  std::stringstream names(ran.output.substr(at, ran.output.find("\ntensors judged") - at));
  size_t count = 0;
  for (std::string line; std::getline(names, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_GE(count, 10U);
}

TEST_F(CheckCli, ACrashIsStatus4AndTheRunGoesOn) {
  write("corpus/seeds/dequant/one.case", tiny_dequant);
  write("corpus/regressions/dequant_is_exact/two.case", tiny_dequant);
  setenv("CRASHING_PLUGIN", "segfault", 1);
  const Ran ran = check("--cases 0 --corpus " + path("corpus") + " --engine " + PLUGIN_DIR +
                        "/crashing_plugin.so --engine twin --invariant dequant_is_exact --json " +
                        path("check.json"));
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("signal 11"));
  const auto rows = nlohmann::json::parse(content("check.json")).at("rows");
  EXPECT_EQ(rows.at(0).at("engine_errors"), 2);
  EXPECT_EQ(rows.at(1).at("holds"), 2);
  const std::string file = only_case("out");
  const Ran again = run("replay " + file + " --engine " + PLUGIN_DIR + "/crashing_plugin.so");
  EXPECT_EQ(again.status, 4) << again.output;
  setenv("CRASHING_PLUGIN", "exit", 1);
  EXPECT_EQ(check("--cases 0 --corpus " + path("corpus") + " --engine " + PLUGIN_DIR +
                  "/crashing_plugin.so --invariant dequant_is_exact")
                .status,
            4);
}

TEST_F(CheckCli, AnEngineThatCannotRunHereIsStatus5) {
  setenv("CRASHING_PLUGIN", "no device", 1);
  const Ran ran = check("--cases 1 --engine " PLUGIN_DIR "/crashing_plugin.so");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("not available here"));
}

TEST_F(CheckCli, ReplayOfABrokenFileIsStatus2AndNamesTheLine) {
  write("broken.case", std::string(tiny_layer) + "nonsense 3\n");
  const Ran ran = run("replay " + path("broken.case"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("broken.case: line 7"));
  EXPECT_EQ(run("replay " + path("absent.case")).status, 2);
  EXPECT_EQ(run("replay " + path("")).status, 2);
}

TEST_F(CheckCli, ReplayWritesWhatFailsForPrograms) {
  write("one.case", tiny_layer);
  const std::string line = "replay " + path("one.case") + " --json " + path("replay.json");
  EXPECT_EQ(run(line).status, 0);
  EXPECT_EQ(nlohmann::json::parse(content("replay.json")).at("failures").size(), 0U);
  EXPECT_EQ(run(line + " --engine mutant:beta_from_a --invariant layer_within_bound").status, 1);
  const nlohmann::json report = nlohmann::json::parse(content("replay.json"));
  EXPECT_EQ(report.at("format"), "deltaproof-replay");
  ASSERT_EQ(report.at("failures").size(), 1U);
  const nlohmann::json& failure = report.at("failures")[0];
  EXPECT_EQ(failure.at("verdict"), "fails");
  EXPECT_EQ(run_line(failure.at("replay").get<std::string>() + " 2>&1").status, 1);
  // The case itself is not written over.
  EXPECT_EQ(run("replay " + path("one.case") + " --json " + path("one.case")).status, 2);
}

TEST_F(CheckCli, ReplayTellsARegressionsOwnInvariantFirst) {
  write("layer_within_bound/one.case", tiny_layer);
  const Ran ran = run("replay " + path("layer_within_bound/one.case") + " --engine twin");
  EXPECT_EQ(ran.status, 0) << ran.output;
  const size_t own = ran.output.find("twin  layer_within_bound");
  const size_t other = ran.output.find("twin  rerun_is_bit_identical");
  ASSERT_NE(own, std::string::npos);
  ASSERT_NE(other, std::string::npos);
  EXPECT_LT(own, ran.output.find("twin  a"));
  EXPECT_LT(own, other);
}

TEST_F(CheckCli, MatrixSaysWhoKillsAMutantAndWhoMissesIt) {
  write("seeds/one.case", tiny_layer);
  const Ran ran = run("matrix --mutant beta_from_a --mutant reset_keeps_history --seeds " +
                      path("seeds") + " --json " + path("matrix.json"));
  // One seed of one layer is not enough for every invariant that names them.
  const auto json = nlohmann::json::parse(content("matrix.json"));
  EXPECT_EQ(ran.status, json.at("problems").empty() ? 0 : 1) << ran.output;
  EXPECT_EQ(json.at("rows").size(), 2U);
  EXPECT_THAT(ran.output, HasSubstr("beta_from_a"));
  EXPECT_THAT(ran.output, HasSubstr("operators_within_bound"));
  EXPECT_THAT(ran.output, HasSubstr("2 of 2 mutants are killed"));
}

// What comes later in the corpus may be what an invariant applies to.
TEST_F(CheckCli, WhatTimeLeftUnaskedIsANoteAndNoError) {
  const Ran ran =
      run("check --engine twin --corpus " SOURCE_DIR "/corpus --seconds 0.3 --jobs 1 --out " +
          path("out"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("note: "));
  EXPECT_THAT(ran.output, Not(HasSubstr("error: ")));
}

// What was judged before is not judged again, and counted apart; what is new is.
TEST_F(CheckCli, MatrixTakesTheCellsOfAnEarlierRun) {
  write("seeds/one.case", tiny_layer);
  const std::string seeds = " --seeds " + path("seeds");
  run("matrix --mutant beta_from_a" + seeds + " --json " + path("before.json"));
  auto before = nlohmann::json::parse(content("before.json"));
  const size_t cells = before.at("rows").at(0).at("cells").size();
  before["rows"][0]["cells"][0]["detail"] = "taken, not judged";
  before["rows"][0]["cells"].erase(1);
  write("before.json", before.dump());
  const Ran ran = run("matrix --mutant beta_from_a --mutant reset_keeps_history" + seeds +
                      " --from " + path("before.json") + " --json " + path("after.json"));
  const auto rows = nlohmann::json::parse(content("after.json")).at("rows");
  EXPECT_EQ(rows.at(0).at("cells").size(), cells);
  EXPECT_EQ(rows.at(0).at("cells").at(0).at("detail"), "taken, not judged");
  EXPECT_THAT(ran.output, HasSubstr("2 of 2 mutants are killed"));
  EXPECT_THAT(ran.output, HasSubstr(std::to_string(cells - 1) + " of the cells are those of"));
  write("before.json", "{}");
  EXPECT_EQ(run("matrix --from " + path("before.json")).status, 2);
  EXPECT_EQ(run("matrix --from " + path("none.json")).status, 2);
  EXPECT_EQ(run("matrix --until-killed --from " + path("after.json")).status, 2);
}

// A mutant is judged no further than the case that kills it, and as often as check would have.
TEST_F(CheckCli, MatrixSaysAfterHowManyDrawnCasesAMutantIsKilledAndWhichSurvive) {
  const std::string command =
      "matrix --drawn-only --until-killed --seed 1 --cases 30 --mutant beta_from_a --mutant "
      "conv_history_of_four_rows --json ";
  const Ran ran = run(command + path("one.json") + " --jobs 1");
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("1 of 2 mutants survive 0 seeds and 30 drawn cases"));
  const auto json = nlohmann::json::parse(content("one.json"));
  const auto& killed = json.at("rows").at(0);
  EXPECT_EQ(killed.at("mutant"), "beta_from_a");
  EXPECT_FALSE(killed.at("survives"));
  EXPECT_LT(killed.at("cases"), 30);
  const auto last = killed.at("cases").get<int>() - 1;
  EXPECT_EQ(killed.at("on"), "case " + std::to_string(last) + " of seed 1");
  const auto& alive = json.at("rows").at(1);
  // No drawn case has more than five taps.
  EXPECT_TRUE(alive.at("survives"));
  EXPECT_EQ(alive.at("cases"), 30);
  EXPECT_EQ(alive.at("killed_by"), "");
  EXPECT_EQ(run(command + path("two.json") + " --jobs 2").status, 0);
  EXPECT_EQ(nlohmann::json::parse(content("two.json")).at("rows"), json.at("rows"));
}

TEST_F(CheckCli, ListIsJsonToo) {
  const Ran ran = run("list invariants --json");
  ASSERT_EQ(ran.status, 0);
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_FALSE(json.contains("mutants"));
  EXPECT_EQ(json.at("invariants").at(0).at("no."), "1");
  for (const auto& row : json.at("invariants")) {
    EXPECT_NE(row.at("domain"), "none that was drawn") << row.at("invariant");
  }
}

// A report that cannot be written is the machine's fault.
TEST_F(CheckCli, AFullStandardOutputIsStatus5) {
  const std::string command =
      "check --engine twin --cases 3 --invariant operators_within_bound --out " + path("out");
  const Ran full = run(command, "2>&1 >/dev/full");
  EXPECT_EQ(full.status, 5);
  EXPECT_THAT(full.output, Not(HasSubstr("internal")));
  EXPECT_EQ(run("list mutants", "2>&1 >/dev/full").status, 5);
}

// More cases than anyone waits for: what was found until the signal is kept.
TEST_F(CheckCli, AnInterruptedRunKeepsWhatItHas) {
  const Ran ran = run_line(std::string("timeout --preserve-status -s INT 3 ") + DELTAPROOF +
                           " check --engine mutant:error_before_decay --invariant " +
                           "operators_within_bound --cases 1000000000 --jobs 2 --json " +
                           path("check.json") + " --out " + path("out") + " 2>&1");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("interrupted"));
  EXPECT_THAT(ran.output, HasSubstr("replay: "));
  EXPECT_TRUE(nlohmann::json::parse(content("check.json")).at("interrupted"));
  EXPECT_NE(content("out/failures.jsonl"), "");
}

}  // namespace
}  // namespace gdn
