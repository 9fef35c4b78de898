// `deltaproof corpus` as a person or a script meets it: what is kept, what is dropped, and that
// nothing is ever lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "ci/corpus_files.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace fs = std::filesystem;

std::string tiny_layer(int seed) {
  return "deltaproof-case 1\nsubject layer\nseed " + std::to_string(seed) +
         "\nshape hidden_size=4 num_k_heads=1 head_k_dim=2 num_v_heads=1 head_v_dim=2 "
         "conv_kernel=2 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\ndialect "
         "deltaproof\ntokens 2\n";
}
std::string tiny_dequant(int seed) {
  return "deltaproof-case 1\nsubject dequant\nseed " + std::to_string(seed) +
         "\nshape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 "
         "conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\ndialect "
         "deltaproof\nmatrix rows=4 cols=32\ntokens 0\n";
}

class CorpusCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    fs::create_directories(path("corpus/seeds"));
  }
  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder), none)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), path(folder)));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  Ran corpus(const std::string& command, const std::string& arguments) const {
    return run("corpus " + command + " --corpus " + path("corpus") + " " + arguments);
  }
  Ran add(const std::string& arguments) const {
    return corpus("add", "--date 2001-02-03 " + arguments);
  }
  // A stand-in for a libFuzzer program: what it does in place of a merge of $in into $out.
  void write_fuzzer(const std::string& name, const std::string& merge) const {
    write("bin/" + name,
          "#!/bin/sh\nif [ \"$1\" = -help=1 ]; then echo set_cover_merge; exit 0; fi\n"
          "crashes=${2#-artifact_prefix=}; out=$3; in=$4\n" +
              merge + "\n");
    fs::permissions(path("bin/" + name), fs::perms::owner_all);
  }
};

TEST_F(CorpusCli, ACaseThatFailsIsKeptSmallUnderItsClaim) {
  write("found.case", tiny_layer(3));
  const Ran ran = add(path("found.case") + " --engine mutant:beta_from_a --found-by 'a test'");
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("operators_within_bound, operator gates"));
  const std::vector<std::string> kept = files("corpus/regressions");
  ASSERT_THAT(kept, SizeIs(1)) << ran.output;
  EXPECT_THAT(kept[0], testing::MatchesRegex("operators_within_bound/2001-02-03_[0-9a-f]+\\.case"));
  const std::string text = content("corpus/regressions/" + kept[0]);
  EXPECT_THAT(text, testing::StartsWith("deltaproof-case 1\n# what: "));
  EXPECT_THAT(text, HasSubstr("\n# found by: a test\n# engines: mutant:beta_from_a\n"));
  EXPECT_THAT(text, HasSubstr("\n# operator: gates\n# diagnosis: BETA"));
  EXPECT_LT(text.size(), 1500U);
  // The command that it prints replays it; right engines hold.
  const std::string replay = ran.output.substr(ran.output.find("replay: ") + 8);
  EXPECT_EQ(run_line(replay.substr(0, replay.find('\n')) + " 2>&1").status, 1) << replay;
  EXPECT_EQ(
      run("replay " + path("corpus/regressions/" + kept[0]) + " --invariant operators_within_bound")
          .status,
      0);
}

TEST_F(CorpusCli, TheSameFaultIsKeptOnce) {
  write("one.case", tiny_layer(3));
  write("two.case", tiny_layer(4));
  const Ran ran = add(path("one.case") + " " + path("two.case") + " --engine mutant:beta_from_a");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the same fault as "));
  EXPECT_THAT(files("corpus/regressions"), SizeIs(1));
  const Ran again = add(path("one.case") + " --engine mutant:beta_from_a");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("the same fault as "));
  EXPECT_THAT(files("corpus/regressions"), SizeIs(1));
  // Another operator is another fault.
  EXPECT_EQ(add(path("one.case") + " --engine mutant:q_scale_twice").status, 0);
  EXPECT_THAT(files("corpus/regressions"), SizeIs(2));
}

TEST_F(CorpusCli, WhatFailsNowhereIsStatus1AndIsNotKept) {
  write("holds.case", tiny_layer(3));
  const Ran ran = add(path("holds.case"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("expected an input that fails on some engine"));
  EXPECT_THAT(ran.output, HasSubstr("twin, simt"));
  EXPECT_THAT(files("corpus/regressions"), IsEmpty());
}

TEST_F(CorpusCli, OfTwoFilesTheGoodOneIsKeptAndTheBadOneNamed) {
  write("bad.case", tiny_layer(3) + "nonsense 3\n");
  write("good.case", tiny_layer(3));
  const Ran ran = add(path("bad.case") + " " + path("good.case") + " " + path("absent.case") +
                      " --engine mutant:beta_from_a");
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("bad.case: line 7"));
  EXPECT_THAT(ran.output, HasSubstr("absent.case: cannot be read"));
  EXPECT_THAT(files("corpus/regressions"), SizeIs(1));
  EXPECT_EQ(content("bad.case"), tiny_layer(3) + "nonsense 3\n");
}

TEST_F(CorpusCli, UsageErrorsAreStatus2AndSayWhatThereIs) {
  write("one.case", tiny_layer(3));
  EXPECT_EQ(run("corpus").status, 2);
  EXPECT_EQ(run("corpus add").status, 2);
  EXPECT_EQ(run("corpus add " + path("one.case") + " --corpus " + path("absent")).status, 2);
  EXPECT_EQ(corpus("add", path("one.case") + " --date yesterday").status, 2);
  EXPECT_EQ(corpus("add", path("one.case") + " --date 2001-02-29").status, 2);
  EXPECT_EQ(add(path("one.case") + " --engine no_such_engine").status, 2);
  const Ran target = add(path("one.case") + " --target fuzz_nothing");
  EXPECT_EQ(target.status, 2);
  EXPECT_THAT(target.output, HasSubstr("fuzz_safetensors"));
  EXPECT_EQ(corpus("minimise", "--binaries " + path("absent")).status, 2);
}

TEST_F(CorpusCli, BytesThatCrashAHostileTargetAreKeptUnderIt) {
  const std::string bytes("\0\xff\x01", 3);
  write("crash", bytes);
  write("fuzz_safetensors/artifacts/crash-0123", bytes);
  const Ran ran = add(path("crash") + " --target fuzz_c_abi");
  EXPECT_EQ(ran.status, 0) << ran.output;
  ASSERT_THAT(files("corpus/regressions/fuzz_c_abi"), SizeIs(1));
  const std::string name = files("corpus/regressions/fuzz_c_abi")[0];
  EXPECT_THAT(name, testing::MatchesRegex("2001-02-03_[0-9a-f]+"));
  EXPECT_EQ(content("corpus/regressions/fuzz_c_abi/" + name), bytes);
  const Ran again = add(path("crash") + " --target fuzz_c_abi");
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.output, HasSubstr("equal to "));
  EXPECT_EQ(add(path("fuzz_safetensors/artifacts/crash-0123")).status, 0);
  EXPECT_THAT(files("corpus/regressions"),
              ElementsAre("fuzz_c_abi/" + name, "fuzz_safetensors/" + name));
  const Ran unsaid = add(path("crash"));
  EXPECT_EQ(unsaid.status, 2);
  EXPECT_THAT(unsaid.output, HasSubstr("--target"));
}

TEST_F(CorpusCli, AnEngineThatCrashesIsAFaultLikeAnother) {
  write("one.case", tiny_dequant(3));
  setenv("CRASHING_PLUGIN", "segfault", 1);
  const Ran ran = add(path("one.case") + " --engine " PLUGIN_DIR "/crashing_plugin.so");
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::vector<std::string> kept = files("corpus/regressions");
  ASSERT_THAT(kept, SizeIs(1));
  const std::string text = content("corpus/regressions/" + kept[0]);
  EXPECT_THAT(text, HasSubstr("# engines: crashing_plugin.so\n# operator: dequant\n"));
  EXPECT_THAT(text, HasSubstr("# what: ended by signal 11"));
  setenv("CRASHING_PLUGIN", "exit", 1);
  write("two.case", tiny_dequant(4));
  const Ran left = add(path("two.case") + " --engine " PLUGIN_DIR "/crashing_plugin.so");
  EXPECT_EQ(left.status, 0) << left.output;
  unsetenv("CRASHING_PLUGIN");
}

TEST_F(CorpusCli, AFolderThatCannotBeWrittenIsStatus5AndTheCaseIsPrinted) {
  write("corpus/regressions", "no folder");
  write("one.case", tiny_layer(3));
  const Ran ran = add(path("one.case") + " --engine mutant:beta_from_a");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("cannot be written"));
  EXPECT_THAT(ran.output, HasSubstr("deltaproof-case 1\n# what: "));
  EXPECT_EQ(content("one.case"), tiny_layer(3));
  write("crash", "bytes");
  const Ran bytes = add(path("crash") + " --target fuzz_c_abi");
  EXPECT_EQ(bytes.status, 5) << bytes.output;
  EXPECT_EQ(content("crash"), "bytes");
}

TEST_F(CorpusCli, MinimiseDropsEqualInputsAndNamesTheOthersByTheirText) {
  write("corpus/seeds/layer/one.case", tiny_layer(1));
  write("corpus/seeds/layer/one_again.case", tiny_layer(1));
  write("corpus/fuzz/fuzz_shapes/a", tiny_layer(1));
  write("corpus/fuzz/fuzz_shapes/b", tiny_layer(2));
  write("corpus/fuzz/fuzz_shapes/c.case",
        "deltaproof-case 1\n# the same\n" + tiny_layer(2).substr(tiny_layer(2).find('\n') + 1));
  write("corpus/fuzz/fuzz_c_abi/a", "x");
  write("corpus/fuzz/fuzz_c_abi/b", "x");
  fs::create_directories(path("bin"));
  const Ran ran = corpus("minimise", "--binaries " + path("bin"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("one_again.case: the same as "));
  EXPECT_THAT(ran.output, HasSubstr("fuzz_shapes/a: dropped, the same as "));
  EXPECT_THAT(ran.output, HasSubstr("only equal ones were dropped"));
  const std::vector<std::string> left = files("corpus/fuzz");
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0], "fuzz_c_abi/a");
  EXPECT_THAT(left[1], testing::MatchesRegex("fuzz_shapes/[0-9a-f]+\\.case"));
  EXPECT_EQ(content("corpus/fuzz/" + left[1]), tiny_layer(2));
  EXPECT_THAT(files("corpus/seeds"), SizeIs(2));
  EXPECT_THAT(corpus("minimise", "--binaries " + path("bin")).output,
              HasSubstr("nothing to change"));
}

TEST_F(CorpusCli, MinimiseKeepsWhatCoversAndWhatCrashes) {
  for (int seed = 1; seed <= 3; ++seed) {
    write("corpus/fuzz/fuzz_shapes/" + std::to_string(seed), tiny_layer(seed));
  }
  write("corpus/fuzz/fuzz_shapes/broken", "no case");
  write_fuzzer("fuzz_shapes", "cp $in/000000 $out/; cp $in/000001 $crashes/crash-1");
  const Ran ran = corpus("minimise", "--binaries " + path("bin"));
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("broken: line 1"));
  EXPECT_THAT(ran.output, HasSubstr("fuzz_shapes/3: dropped, others cover what it does"));
  EXPECT_THAT(ran.output, HasSubstr("corpus add " + path("corpus/fuzz/fuzz_shapes/2")));
  std::set<std::string> left;
  for (const std::string& name : files("corpus/fuzz/fuzz_shapes")) {
    left.insert(content("corpus/fuzz/fuzz_shapes/" + name));
  }
  EXPECT_EQ(left, (std::set<std::string>{tiny_layer(1), tiny_layer(2), "no case"}));
  EXPECT_THAT(files("corpus/fuzz"), SizeIs(3)) << "what it worked with is gone";
}

TEST_F(CorpusCli, AMergeThatFailsChangesNothing) {
  write("corpus/fuzz/fuzz_shapes/1", tiny_layer(1));
  write("corpus/fuzz/fuzz_shapes/2", tiny_layer(1));
  for (const char* merge : {"cp $in/000000 $out/; exit 1", "exit 0", "kill -9 $$"}) {
    write_fuzzer("fuzz_shapes", merge);
    const Ran ran = corpus("minimise", "--binaries " + path("bin"));
    EXPECT_EQ(ran.status, 5) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("nothing was changed"));
    EXPECT_THAT(files("corpus/fuzz"), ElementsAre("fuzz_shapes/1", "fuzz_shapes/2"));
  }
  // A replay program takes a merge for nothing to do, and would leave an empty folder.
  write("bin/fuzz_shapes", "#!/bin/sh\nexit 0\n");
  const Ran ran = corpus("minimise", "--binaries " + path("bin"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("not a libFuzzer program"));
  EXPECT_THAT(files("corpus/fuzz"), SizeIs(1));
}

TEST_F(CorpusCli, MinimiseTakesUpWhereItWasInterrupted) {
  write("corpus/fuzz/.fuzz_shapes.replaced/a.case", tiny_layer(1));
  write("corpus/fuzz/.fuzz_shapes.staged/half", "x");
  fs::create_directories(path("bin"));
  const Ran ran = corpus("minimise", "--binaries " + path("bin"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::vector<std::string> left = files("corpus/fuzz");
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(content("corpus/fuzz/" + left[0]), tiny_layer(1));
}

TEST_F(CorpusCli, ListAndStatsSayWhatThereIsAndWhatLacks) {
  write("corpus/seeds/layer/one.case",
        "deltaproof-case 1\n# One idea.\n" + tiny_layer(1).substr(tiny_layer(1).find('\n') + 1));
  write("corpus/fuzz/fuzz_shapes/1.case", tiny_layer(1));
  write("corpus/fuzz/fuzz_c_abi/1", "x");
  write("two.case", tiny_layer(3));
  ASSERT_EQ(add(path("two.case") + " --engine mutant:beta_from_a --found-by me").status, 0);
  const Ran list = corpus("list", "--json 2>/dev/null");
  EXPECT_EQ(list.status, 0);
  const auto rows = nlohmann::json::parse(list.output);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows.at(0).at("shows"), "One idea.");
  EXPECT_EQ(rows.at(1).at("invariant"), "operators_within_bound");
  EXPECT_EQ(rows.at(1).at("operator"), "gates");
  EXPECT_EQ(rows.at(1).at("found_by"), "me");
  EXPECT_EQ(rows.at(2).at("subject"), "bytes");
  EXPECT_EQ(rows.at(3).at("found_by"), "fuzz_shapes");
  EXPECT_THAT(corpus("list", "").output, HasSubstr("4 files"));
  const auto stats = nlohmann::json::parse(corpus("stats", "--json 2>/dev/null").output);
  EXPECT_EQ(stats.at("files"), 4);
  EXPECT_EQ(stats.at("subjects").at("layer"), 3);
  EXPECT_EQ(stats.at("equal").size(), 1U);
  EXPECT_THAT(stats.at("operators_without_regression"), Not(testing::Contains("gates")));
  EXPECT_THAT(stats.at("operators_without_regression"), testing::Contains("conv"));
  EXPECT_THAT(stats.at("targets_without_input"), testing::Contains("fuzz_safetensors"));
  EXPECT_THAT(corpus("stats", "").output, HasSubstr("operators without a regression"));
  write("corpus/seeds/layer/broken.case", "nonsense\n");
  const Ran broken = corpus("list", "");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.output, HasSubstr("broken.case: line 1"));
  EXPECT_THAT(broken.output, HasSubstr("5 files"));
}

TEST(CorpusTargets, AreThoseOfTheFuzzFolder) {
  std::set<std::pair<std::string, bool>> there, listed;
  for (const auto& file : fs::directory_iterator(fs::path(SOURCE_DIR) / "fuzz")) {
    const std::string stem = file.path().stem();
    if (!stem.starts_with("fuzz_") || file.path().extension() != ".cpp") continue;
    std::ifstream in(file.path());
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    there.emplace(stem, text.find("\"fuzz/case_target.h\"") != std::string::npos);
  }
  for (const FuzzTarget& target : fuzz_targets) listed.emplace(target.name, target.on_cases);
  EXPECT_EQ(listed, there) << "fuzz_targets of ci/corpus_files.h against fuzz/fuzz_*.cpp";
}

}  // namespace
}  // namespace gdn
