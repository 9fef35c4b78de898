// Mutants of the kernels without building one: every edit applies to the source as it is, one that
// does not says what to do, and a mutant that hangs or crashes ends itself alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "ci/kernel_mutants/source_edit.h"
#include "ci/processes.h"
#include "device/gdn.h"
#include "invariants/harness/engine.h"
#include "reference/tensor.h"
#include "tests/case_files.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* edits_folder = SOURCE_DIR "/device/mutants/kernels";

// Those of the tree; one that cannot be read fails the test.
std::vector<SourceEdit> edits() {
  std::vector<SourceEdit> all;
  for (const auto& entry : fs::directory_iterator(edits_folder)) {
    if (entry.path().extension() != ".edit") continue;
    std::string why;
    const auto edit = parse_edit(entry.path().stem().string(), file_text(entry.path()), &why);
    EXPECT_TRUE(edit.has_value()) << entry.path() << ": " << why;
    if (edit) all.push_back(*edit);
  }
  return all;
}

TEST(KernelMutants, EveryEditAppliesToItsFileAndChangesIt) {
  const std::vector<SourceEdit> all = edits();
  EXPECT_GE(all.size(), 60U);
  for (const SourceEdit& edit : all) {
    const std::string source = file_text(fs::path(SOURCE_DIR) / edit.file);
    std::string why;
    const auto edited = apply_edit(edit, source, &why);
    ASSERT_TRUE(edited.has_value()) << edits_folder << "/" << edit.name << ".edit: " << why;
    EXPECT_NE(*edited, source) << edit.name;
  }
}

TEST(KernelMutants, AreNamedAfterBugsOfTheirOwn) {
  std::set<std::string> built_in;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) built_in.insert(gdn_mutant_at(i)->name);
  for (const SourceEdit& edit : edits()) {
    EXPECT_FALSE(built_in.contains(edit.name)) << edit.name << " is a mutant that is built in";
    EXPECT_TRUE(edit.op == "host" || operator_named(edit.op).has_value())
        << edit.name << ": " << edit.op;
    EXPECT_EQ(edit.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << edit.name;
  }
}

// half.cuh alone is no part of an engine: the GPU converts, and a test compares it with that.
TEST(KernelMutants, ThereIsOneOfEveryKernel) {
  std::set<std::string> edited;
  for (const SourceEdit& edit : edits()) edited.insert(edit.file);
  for (const auto& entry : fs::directory_iterator(SOURCE_DIR "/device/kernels")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".cuh" || name == "half.cuh") continue;
    EXPECT_TRUE(edited.contains("device/kernels/" + name)) << name << " has no mutant";
  }
}

constexpr const char* head =
    "bug: a sum is a difference\nop: conv\nfile: device/kernels/conv.cuh\nkind: operator swapped\n";

TEST(SourceEdit, ReplacesWholeLinesAndNothingElse) {
  std::string why;
  const auto edit = parse_edit(
      "sum", std::string(head) + "--- old\na + b;\n+++ new\na - b;\n--- old\nc;\n+++ new\n", &why);
  ASSERT_TRUE(edit.has_value()) << why;
  EXPECT_EQ(edit->engine, "simt");
  EXPECT_EQ(apply_edit(*edit, "x;\na + b;\nc;\ny + a + b;\n", &why), "x;\na - b;\ny + a + b;\n");
}

TEST(SourceEdit, ThatNoLongerAppliesSaysWhere) {
  std::string why;
  const auto edit =
      parse_edit("sum", std::string(head) + "--- old\na + b;\n+++ new\na - b;\n", &why);
  ASSERT_TRUE(edit.has_value()) << why;
  EXPECT_FALSE(apply_edit(*edit, "b + a;\n", &why).has_value());
  EXPECT_THAT(why, HasSubstr("line 5 stands 0 times in device/kernels/conv.cuh"));
  EXPECT_FALSE(apply_edit(*edit, "a + b;\na + b;\n", &why).has_value());
  EXPECT_THAT(why, HasSubstr("stands 2 times"));
}

TEST(SourceEdit, ThatIsIllFormedSaysWhatIsExpected) {
  const auto why_not = [](const std::string& text) {
    std::string why;
    EXPECT_FALSE(parse_edit("sum", text, &why).has_value()) << text;
    return why;
  };
  const std::string body = "--- old\na\n+++ new\nb\n";
  EXPECT_THAT(why_not("bug: x\nop: conv\nfile: ci/main.cpp\nkind: mask wrong\n" + body),
              HasSubstr("below device/kernels or device/host"));
  EXPECT_THAT(why_not("bug: x\nop: conv\nfile: device/host/a.cpp\nkind: odd\n" + body),
              HasSubstr("expected one of: operator swapped"));
  EXPECT_THAT(why_not(std::string(head) + "engine: cuda\n" + body), HasSubstr("simt_checked"));
  EXPECT_THAT(why_not(std::string(head) + "bug: again\n" + body), HasSubstr("line 5: 'bug'"));
  EXPECT_THAT(why_not(std::string(head) + "colour: red\n" + body), HasSubstr("line 5: expected"));
  EXPECT_THAT(why_not(head), HasSubstr("nothing is replaced"));
  EXPECT_THAT(why_not(std::string(head) + "--- old\na\n"), HasSubstr("expected '+++ new'"));
  EXPECT_THAT(why_not(std::string(head) + "--- old\n+++ new\nb\n"), HasSubstr("old text is empty"));
}

// Its edits are found in a folder of the test's own.
class KernelMutantsFolder : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    setenv("DELTAPROOF_KERNEL_MUTANTS", path("").c_str(), 1);
    write("sum.edit", std::string(head) + "--- old\na\n+++ new\nb\n");
  }
  void TearDown() override {
    unsetenv("DELTAPROOF_KERNEL_MUTANTS");
    ProgramTest::TearDown();
  }
};

TEST_F(KernelMutantsFolder, OneThatIsNotBuiltSaysHowItIs) {
  std::string why;
  EXPECT_FALSE(find_engine("mutant:sum", &why).has_value());
  EXPECT_THAT(why, HasSubstr("sum.so is not built"));
  EXPECT_THAT(why, HasSubstr("--target kernel_mutants"));
  const Ran ran = run("matrix --kernel-mutants");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("--target kernel_mutants"));
}

TEST_F(KernelMutantsFolder, WithoutAnyIsSaidToBeSo) {
  setenv("DELTAPROOF_KERNEL_MUTANTS", path("elsewhere").c_str(), 1);
  for (const char* command :
       {"list kernel_mutants", "matrix --kernel-mutants", "triage --mutants --kernel-mutants"}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 5) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(path("elsewhere")));
  }
}

TEST_F(KernelMutantsFolder, OneIsTriagedAsItsEditSays) {
  fs::copy_file(PLUGIN_DIR "/crashing_plugin.so", path("sum.so"));
  setenv("CRASHING_PLUGIN", "segfault", 1);
  write("page.md",
        "<!-- triage of kernel mutants: begin -->\n<!-- triage of kernel mutants: end -->\n");
  const Ran ran = run("triage --mutants --kernel-mutants --seeds " SOURCE_DIR
                      "/corpus/seeds/dequant --summary " +
                      path("page.md"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(content("page.md"), HasSubstr("1 of 1 mutants are killed by a seed"));
  EXPECT_THAT(content("page.md"), HasSubstr("| sum | "));
  unsetenv("CRASHING_PLUGIN");
}

TEST_F(KernelMutantsFolder, OneThatIsNotThereIsRefused) {
  std::string why;
  EXPECT_FALSE(find_engine("mutant:difference", &why).has_value());
  EXPECT_THAT(why, HasSubstr("no engine \"mutant:difference\""));
  EXPECT_THAT(why, HasSubstr("mutant:sum"));
  const Ran ran = run("matrix --kernel-mutants --mutant difference");
  EXPECT_EQ(ran.status, 2) << ran.output;
}

TEST_F(KernelMutantsFolder, OneThatCrashesIsKilledByThatAndTheOthersAreJudged) {
  fs::copy_file(PLUGIN_DIR "/crashing_plugin.so", path("sum.so"));
  write("whole.edit", std::string(head) + "equivalent: it is\n--- old\na\n+++ new\nb\n");
  fs::copy_file(PLUGIN_DIR "/example_plugin.so", path("whole.so"));
  setenv("CRASHING_PLUGIN", "segfault", 1);
  const Ran ran = run("matrix --kernel-mutants --seeds " SOURCE_DIR
                      "/corpus/seeds/dequant --until-killed --json " +
                      path("out.json"));
  unsetenv("CRASHING_PLUGIN");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("1 of 1 mutants of the kernels"));
  EXPECT_THAT(content("out.json"), HasSubstr("\"cause\": \"crash\""));
  EXPECT_THAT(content("out.json"), HasSubstr("signal 11"));
}

TEST_F(KernelMutantsFolder, OneThatNothingKillsIsAlive) {
  fs::copy_file(PLUGIN_DIR "/example_plugin.so", path("sum.so"));
  const Ran ran =
      run("matrix --kernel-mutants --seeds " SOURCE_DIR "/corpus/seeds/dequant --until-killed");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("error: sum: it is alive"));
}

TEST(Processes, AStepThatHangsIsStoppedAndTheWorkGoesOn) {
  std::vector<std::string> seen;
  Work work;
  work.tasks = 1;
  work.step_seconds_max = 0.3;
  work.run = [](size_t, size_t first, Channel& channel) {
    for (size_t step = first; step < 3; ++step) {
      channel.begin(step);
      for (volatile bool hangs = step == 1; hangs;) {
      }
      channel.put("done");
    }
  };
  work.result = [&](size_t, size_t step, std::string_view result) {
    seen.push_back(std::to_string(step) + " " + std::string(result));
  };
  work.crashed = [&](size_t, size_t, const std::string& how) { seen.push_back(how); };
  work.hung = [&](size_t, size_t step, const std::string&) {
    seen.push_back(std::to_string(step) + " hung");
  };
  work.done = [](size_t) {};
  share_out(1, work);
  EXPECT_EQ(seen, (std::vector<std::string>{"0 done", "1 hung", "2 done"}));
}

}  // namespace
}  // namespace gdn
