// `deltaproof triage` as it is typed: what it reads, what it says, its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* a_layer =
    "deltaproof-case 1\n"
    "subject layer\n"
    "shape hidden_size=32 num_k_heads=1 head_k_dim=4 num_v_heads=2 head_v_dim=4 conv_kernel=2 "
    "num_layers=1\n"
    "tokens 3\n";

std::string quoted(const std::string& word) { return "'" + word + "'"; }

class TriageCli : public ProgramTest {
 protected:
  Ran triage(const std::string& arguments) const {
    return run("triage " + arguments + " --out " + path("out"));
  }
};

TEST_F(TriageCli, NamesOperatorCauseAndReplayOfACase) {
  write("layer.case", a_layer);
  const Ran ran = triage(path("layer.case") + " --engine mutant:error_before_decay --json " +
                         path("f.json") + " --markdown " + path("f.md"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("delta_rule is wrong since token 1"));
  EXPECT_THAT(ran.output, HasSubstr("error/bound"));
  const auto json = nlohmann::json::parse(content("f.json"));
  ASSERT_EQ(json.at("findings").size(), 1U);
  const auto& finding = json.at("findings")[0];
  EXPECT_EQ(finding.at("operator"), "delta_rule");
  EXPECT_EQ(finding.at("heads"), 1);
  EXPECT_LE(finding.at("tokens"), 2);
  EXPECT_THAT(content("f.md"), HasSubstr("# delta_rule is wrong"));
  EXPECT_THAT(content("f.md"), HasSubstr("deltaproof-case 1"));
  const Ran replayed = run_line(finding.at("replay").get<std::string>() + " 2>&1");
  EXPECT_EQ(replayed.status, 1) << replayed.output;
}

TEST_F(TriageCli, SaysThatNothingIsWrongWithASoundEngine) {
  write("layer.case", a_layer);
  const Ran ran = triage(path("layer.case") + " --engine twin");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("0 with something wrong"));
}

TEST_F(TriageCli, ReadsWhatCheckLeaves) {
  const std::string check =
      "check --engine mutant:q_scale_twice --invariant "
      "q_scale_is_applied_once --cases 60 --json " +
      path("check.json") + " --out " + path("run");
  ASSERT_EQ(run(check).status, 1);
  for (const char* what : {"run", "run/failures.jsonl", "check.json"}) {
    const Ran ran = triage(path(what));
    EXPECT_EQ(ran.status, 1) << what << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("mutant:q_scale_twice, q_scale_is_applied_once")) << what;
    EXPECT_THAT(ran.output, HasSubstr("qk_norm is wrong")) << what;
  }
}

TEST_F(TriageCli, RefusesWhatItCannotRead) {
  write("old.jsonl", R"({"version":1,"engine":"twin","invariant":"x","outcome":"fails"})"
                     "\n");
  write("words.txt", "no record\n");
  write("other.json", "{}\n");
  write("typed.jsonl", R"({"version":2,"engine":7,"invariant":"x","outcome":"fails","text":"x"})"
                       "\n");
  write("bad.case", "deltaproof-case 1\nsubject nothing\n");
  std::filesystem::create_directories(path("empty"));
  for (const char* what : {"old.jsonl", "words.txt", "other.json", "typed.jsonl", "bad.case",
                           "empty", "absent.case"}) {
    const Ran ran = triage(path(what));
    EXPECT_EQ(ran.status, 2) << what << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(what));
  }
  EXPECT_THAT(triage(path("old.jsonl")).output, HasSubstr("expected version 2, got 1"));
  EXPECT_THAT(triage(path("other.json")).output, HasSubstr("no outcome"));
  EXPECT_THAT(triage(path("typed.jsonl")).output, HasSubstr("engine: expected text, got number"));
  EXPECT_EQ(triage("").status, 2);
  EXPECT_EQ(triage(path("bad.case") + " --mutants").status, 2);
  EXPECT_EQ(triage(path("bad.case") + " --build true").status, 2);
}

TEST_F(TriageCli, SaysBeforeItJudgesThatNoCaseCanBeSaved) {
  write("in_the_way", "a file");
  const Ran ran = run(std::string("triage ") + SOURCE_DIR +
                      "/corpus/seeds/dequant/any_scale.case --out " + path("in_the_way"));
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, Not(HasSubstr("replay")));
}

TEST_F(TriageCli, SaysThatAnEngineCrashes) {
  write("q4.case",
        "deltaproof-case 1\nsubject dequant\n"
        "shape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 conv_kernel=1 "
        "num_layers=1\n"
        "matrix rows=4 cols=32\n");
  setenv("CRASHING_PLUGIN", "late segfault", 1);
  const Ran ran = triage(path("q4.case") + " --invariant dequant_is_exact --engine " + PLUGIN_DIR +
                         "/crashing_plugin.so");
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("signal 11"));
}

TEST_F(TriageCli, FindsTheFirstBadCommit) {
  write("layer.case", a_layer);
  const std::string tree = path("a tree");
  std::string line = "git init --quiet --initial-branch=main " + quoted(tree);
  for (const char* engine : {"twin", "twin", "mutant:beta_halved", "mutant:beta_halved"}) {
    line += " && echo " + std::string(engine) + " >> " + quoted(tree + "/engines") + " && git -C " +
            quoted(tree) + " add engines && git -C " + quoted(tree) +
            " -c user.name=t -c user.email=t@example.com commit --quiet -m 'the engine is now " +
            engine + "'";
  }
  ASSERT_EQ(run_line(line).status, 0);
  const std::string test = std::string(DELTAPROOF) +
                           " replay \"$DELTAPROOF_CASE\" --invariant \"$DELTAPROOF_INVARIANT\" "
                           "--engine \"$(tail -n 1 engines)\"";
  const Ran ran = triage(path("layer.case") + " --engine mutant:beta_halved --bisect main~3..main" +
                         " --repository " + quoted(tree) + " --build true --test " + quoted(test));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the engine is now mutant:beta_halved"));
}

TEST_F(TriageCli, LeavesNoWorktreeWhereItIsInterrupted) {
  write("layer.case", a_layer);
  const std::string tree = path("a tree");
  const std::string git = "git -C " + quoted(tree) + " ";
  std::string line = "git init --quiet --initial-branch=main " + quoted(tree);
  for (const char* number : {"1", "2", "3"}) {
    line += " && " + git +
            "-c user.name=t -c user.email=t@example.com commit --quiet --allow-empty -m " + number;
  }
  ASSERT_EQ(run_line(line).status, 0);
  const Ran ran = run_line("timeout --signal=TERM --kill-after=30 3 " + std::string(DELTAPROOF) +
                           " triage " + path("layer.case") + " --engine mutant:beta_halved --out " +
                           path("out") + " --bisect main~2..main --repository " + quoted(tree) +
                           " --build 'touch " + path("begun") + "; sleep 60' --test false 2>&1");
  EXPECT_THAT(ran.output, HasSubstr("interrupted"));
  EXPECT_TRUE(std::filesystem::exists(path("begun")));
  EXPECT_EQ(run_line(git + "worktree list | wc -l").output, "1\n");
}

TEST_F(TriageCli, ScoresMutantsAndLeavesTheDocumentAloneWhereTheyAreNotAll) {
  write("seeds/layer.case", a_layer);
  write("page.md", "above\n<!-- triage: begin -->\n<!-- triage: end -->\nbelow\n");
  const std::string asked = "triage --mutants --mutant error_before_decay --mutant beta_from_a";
  const Ran ran = run(asked + " --seeds " + path("seeds") + " --json " + path("mutants.json"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  const auto json = nlohmann::json::parse(content("mutants.json"));
  EXPECT_EQ(json.at("killed"), 2);
  EXPECT_EQ(json.at("operator_right"), 2);
  EXPECT_EQ(run(asked + " --seeds " + path("seeds") + " --summary " + path("page.md")).status, 2);
  EXPECT_THAT(content("page.md"), HasSubstr("begin -->\n<!-- triage: end"));
}

}  // namespace
}  // namespace gdn
