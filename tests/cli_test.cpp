// The program as a person or a script meets it: exit statuses, messages, files written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string oracle = std::string(SOURCE_DIR) + "/corpus/oracle/";

class Cli : public ProgramTest {};

TEST_F(Cli, VersionIsOneLine) {
  const Ran ran = run("--version");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("deltaproof 0."));
}

TEST_F(Cli, HelpShowsExamplesAndStatuses) {
  const Ran ran = run("--help");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("deltaproof verify corpus/oracle"));
  EXPECT_THAT(ran.output, HasSubstr("Exit status"));
}

TEST_F(Cli, HelpOfACommandShowsItsOwnExamples) {
  const Ran ran = run("export --help");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("deltaproof export --cases"));
  EXPECT_THAT(ran.output, Not(HasSubstr("deltaproof triage")));
  EXPECT_THAT(ran.output, HasSubstr("Exit status"));
}

TEST_F(Cli, UsageErrorsAreStatus2) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("verify").status, 2);
  EXPECT_EQ(run("verify --no-such-option x").status, 2);
  EXPECT_EQ(run("no-such-command").status, 2);
}

TEST_F(Cli, ARightEngineOnACaptureIsStatus0) {
  const Ran ran = run("verify " + oracle + "gdn_tiny_decode.safetensors");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("delta_rule"));
  EXPECT_THAT(ran.output, HasSubstr(" 0 fail"));
  EXPECT_THAT(ran.output, Not(HasSubstr("\r"))) << "progress has no place in a pipe";
}

TEST_F(Cli, AMutantIsStatus1AndTheMessageReplaysIt) {
  const Ran ran =
      run("verify " + oracle + "gdn_tiny_decode.safetensors --engine mutant:error_before_decay");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("replay: " DELTAPROOF " verify"));
  EXPECT_THAT(ran.output, HasSubstr("suspect: delta_rule of mutant:error_before_decay"));
  EXPECT_THAT(ran.output, HasSubstr("mutant:error_before_decay"));
}

TEST_F(Cli, AnotherHeadMapIsStatus1) {
  const Ran ran =
      run("verify " + oracle + "ggml_gdn_cpu.safetensors " + "--dialect ggml,head_map=grouped");
  EXPECT_EQ(ran.status, 1) << ran.output;
}

TEST_F(Cli, UnknownNamesAreStatus2AndSayWhatThereIs) {
  const std::string file = oracle + "gdn_tiny_decode.safetensors";
  const Ran engine = run("verify " + file + " --engine no_such_engine");
  EXPECT_EQ(engine.status, 2);
  EXPECT_THAT(engine.output, HasSubstr("twin"));
  const Ran dialect = run("verify " + file + " --dialect no_such_dialect");
  EXPECT_EQ(dialect.status, 2);
  EXPECT_THAT(dialect.output, HasSubstr("ggml"));
  const Ran value = run("verify " + file + " --dialect ggml,head_map=sideways");
  EXPECT_EQ(value.status, 2);
  EXPECT_THAT(value.output, HasSubstr("grouped"));
}

TEST_F(Cli, BadFilesAreStatus2AndOneLineNamesThem) {
  write("cut.safetensors", "abc");
  for (const std::string& name : {path("cut.safetensors"), path("absent.safetensors")}) {
    const Ran ran = run("verify " + name);
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(name));
    EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 1) << ran.output;
  }
}

TEST_F(Cli, ABadFileLosesNothingOfTheFilesBeforeIt) {
  write("cut.safetensors", "abc");
  const Ran ran = run("verify " + oracle + "gdn_tiny_decode.safetensors " +
                      path("cut.safetensors") + " --json " + path("report.json"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("gated_norm"));
  const auto json = nlohmann::json::parse(content("report.json"));
  EXPECT_EQ(json.at("files").size(), 1U);
  EXPECT_FALSE(json.at("complete"));
  EXPECT_TRUE(json.at("status").is_null());
  EXPECT_THAT(std::string(json.at("ended")), HasSubstr("cut.safetensors"));
}

TEST_F(Cli, ACaptureThatHoldsIsNoWordForAnEngineThatCouldNotBeJudged) {
  const Ran ran = run("verify " + oracle + "gdn_tiny_decode.safetensors --engine " + PLUGIN_DIR +
                      "/example_plugin.so");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("nothing of the engine was found to hold"));
}

TEST_F(Cli, JsonHasEveryRowOfTheTable) {
  const Ran ran = run("verify " + oracle + "fla_recurrent_f32.safetensors --json " +
                      path("report.json") + " --markdown " + path("report.md"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  const auto json = nlohmann::json::parse(content("report.json"));
  EXPECT_EQ(json.at("version"), 2);
  EXPECT_EQ(json.at("status"), 0);
  EXPECT_TRUE(json.at("complete"));
  const auto& rows = json.at("files").at(0).at("rows");
  ASSERT_FALSE(rows.empty());
  size_t holds = 0;
  for (const auto& row : rows) holds += row.at("verdict") == "holds" ? 1 : 0;
  EXPECT_EQ(json.at("holds"), holds);
  EXPECT_THAT(content("report.md"), HasSubstr("| delta_rule | O |"));
}

TEST_F(Cli, AnUnwritableResultIsStatus5BeforeAnyWork) {
  const Ran ran = run("verify " + oracle + "gdn_tiny_decode.safetensors --json " +
                      path("no_such_folder/report.json"));
  EXPECT_EQ(ran.status, 5);
  EXPECT_THAT(ran.output, Not(HasSubstr("gated_norm")));
}

TEST_F(Cli, TheSummaryReplacesItsPartAlone) {
  write("page.md",
        "above\n<!-- worst error/bound: begin -->\nwhat stood here\n<!-- worst error/bound: end "
        "-->\nbelow\n");
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --summary " + path("page.md"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  const std::string page = content("page.md");
  EXPECT_TRUE(page.starts_with("above\n"));
  EXPECT_TRUE(page.ends_with("below\n"));
  EXPECT_THAT(page, HasSubstr("| dequant |"));
  EXPECT_THAT(page, Not(HasSubstr("what stood here")));
}

TEST_F(Cli, ListNamesEnginesMutantsDialectsAndInvariants) {
  const Ran ran = run("list");
  EXPECT_EQ(ran.status, 0);
  for (const char* name :
       {"twin", "error_before_decay", "flashinfer_prefill", "rerun_is_bit_identical"}) {
    EXPECT_THAT(ran.output, HasSubstr(name));
  }
}

TEST_F(Cli, APluginIsVerifiedLikeABuiltInEngine) {
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --engine " + PLUGIN_DIR +
                      "/example_plugin.so");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Cli, APluginOfAnotherVersionIsRefused) {
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --engine " + PLUGIN_DIR +
                      "/wrong_version_plugin.so");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("version"));
}

// It fails when it is opened, in the way that it is told.
class ACrashingEngine : public Cli {
 protected:
  static Ran verify(const char* how) {
    setenv("CRASHING_PLUGIN", how, 1);
    return run("verify " + oracle + "ggml_q4_0.safetensors --engine " + PLUGIN_DIR +
               "/crashing_plugin.so");
  }
};

TEST_F(ACrashingEngine, IsStatus4AndALineSaysWhatHappenedWhere) {
  const Ran fault = verify("segfault");
  EXPECT_EQ(fault.status, 4) << fault.output;
  EXPECT_THAT(fault.output, HasSubstr("crashing_plugin.so: loading: ended by"));
  EXPECT_THAT(fault.output, HasSubstr("signal 11"));
  EXPECT_EQ(verify("abort").status, 4);
}

TEST_F(ACrashingEngine, LeavesNoReportOfAnEarlierRun) {
  write("report.json", "of an earlier run");
  setenv("CRASHING_PLUGIN", "late segfault", 1);
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --json " + path("report.json") +
                      " --engine " + PLUGIN_DIR + "/crashing_plugin.so");
  EXPECT_EQ(ran.status, 4) << ran.output;
  const auto json = nlohmann::json::parse(content("report.json"));
  EXPECT_TRUE(json.at("files").empty());
  EXPECT_FALSE(json.at("complete"));
}

TEST_F(ACrashingEngine, ThatCallsExitIsNotTakenForAFinishedRun) {
  const Ran ran = verify("exit");
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("exit(0)"));
}

TEST_F(ACrashingEngine, ThatCannotRunHereIsStatus5BeforeAnyWork) {
  const Ran ran = verify("no device");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("not available here: two\\x0alines"));
  EXPECT_THAT(ran.output, Not(HasSubstr("dequant")));
}

TEST_F(ACrashingEngine, ThatOnlyRefusesIsQuotedOnOneLine) {
  const Ran ran = verify("not at all");
  EXPECT_EQ(ran.status, 4) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("two\\x0alines and \\x1b[31mred\n"));
  EXPECT_THAT(ran.output, HasSubstr("by its contract a\\x0ab\n"));
}

TEST_F(Cli, WhatAPluginDoesNotServeIsNotApplicableInItsOwnWords) {
  const Ran ran =
      run("verify " + oracle + "ggml_q4_0.safetensors " + oracle +
          "fla_recurrent_bf16.safetensors --engine " + PLUGIN_DIR + "/example_plugin.so");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("not_applicable: "));
  EXPECT_THAT(ran.output, HasSubstr("recurrent: GDN_UNSUPPORTED: "));
  EXPECT_THAT(ran.output, Not(HasSubstr("recurrent: GDN_UNSUPPORTED: \n")));
}

TEST_F(Cli, ADeviceIsWrittenAndNotReplacedAndALinkIsFollowed) {
  std::filesystem::create_symlink("/dev/null", path("null"));
  write("report.json", "old");
  std::filesystem::create_symlink(path("report.json"), path("link"));
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --json " + path("link") +
                      " --markdown " + path("null"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("null")));
  EXPECT_EQ(nlohmann::json::parse(content("report.json")).at("version"), 2);
}

TEST_F(Cli, AFolderAsResultIsStatus5BeforeAnyWork) {
  const Ran ran = run("verify " + oracle + "ggml_q4_0.safetensors --json " + path(""));
  EXPECT_EQ(ran.status, 5);
  EXPECT_THAT(ran.output, Not(HasSubstr("dequant")));
}

TEST_F(Cli, ALongPathIsNamedToItsEnd) {
  const std::string name = path(std::string(200, 'x') + ".safetensors");
  EXPECT_THAT(run("verify " + name).output, HasSubstr(name + ": cannot be opened"));
}

}  // namespace
}  // namespace gdn
