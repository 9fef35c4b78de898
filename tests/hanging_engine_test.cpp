// Engines that do not come back from a call: every command that calls engines ends, says which call
// of which engine, and how to give it longer.
#include <gmock/gmock.h>

#include <chrono>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* engine = PLUGIN_DIR "/hanging_plugin.so";
// Far more than a call of the plugin takes that does not hang, and little to wait for.
constexpr const char* short_limit = " --call-seconds 0.5";

constexpr const char* tiny_dequant =
    "deltaproof-case 1\nsubject dequant\n"
    "shape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 conv_kernel=1 "
    "num_layers=1\nmatrix rows=4 cols=32\n";

class AHangingEngine : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("one.case", tiny_dequant);
    write("two.case", tiny_dequant);
    write("corpus/seeds/dequant/one.case", tiny_dequant);
    write("corpus/regressions/dequant_is_exact/two.case", tiny_dequant);
  }
  // Of the program with its limit.
  Ran run_hanging(const std::string& call, const std::string& arguments) const {
    setenv("HANGING_PLUGIN", call.c_str(), 1);
    return run_line("cd " + path("") + " && " + DELTAPROOF + " " + arguments + " --engine " +
                    engine + short_limit + " 2>&1");
  }
  void expect_told(const std::string& call, const Ran& ran) const {
    EXPECT_EQ(ran.status, 4) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(std::string("hanging_plugin.so: ") + call +
                                      " has not come back after 0.5 s"));
    EXPECT_THAT(ran.output, HasSubstr("--call-seconds"));
  }
};

TEST_F(AHangingEngine, EndsEveryCommandWhereverItHangs) {
  const std::string capture = SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors";
  const std::pair<const char*, std::string> commands[] = {
      {"open", "verify " + capture},
      {"dequant", "verify " + capture},
      {"open", "triage one.case"},
      {"dequant", "triage one.case"},
      {"loading", "replay one.case"},
      {"describe", "limit --quick --trials 10"},
      {"open", "limit --quick --trials 10"},
      {"open", "check --cases 1"},
      {"open", "corpus add one.case --corpus corpus"}};
  for (const auto& [call, arguments] : commands) {
    SCOPED_TRACE(std::string(call) + ", " + arguments);
    expect_told(call, run_hanging(call, arguments));
  }
}

// Two cases and all invariants: it is waited for once, and the other engine goes on.
TEST_F(AHangingEngine, IsAskedNoMoreByCheckAndReplay) {
  expect_told("dequant", run_hanging("dequant", "replay one.case two.case --engine twin"));
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = run_hanging("dequant",
                              "check --cases 20 --corpus corpus --jobs 1 --engine twin "
                              "--invariant dequant_is_exact "
                              "--invariant rerun_is_bit_identical");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  expect_told("dequant", ran);
  EXPECT_THAT(ran.output, HasSubstr("twin"));
  EXPECT_LT(taken.count(), 30);
}

TEST_F(AHangingEngine, DoesNotKeepTheProgramFromASignal) {
  setenv("HANGING_PLUGIN", "open", 1);
  for (const char* command : {"triage one.case", "check --cases 1", "replay one.case"}) {
    const auto start = std::chrono::steady_clock::now();
    const Ran ran = run_line("cd " + path("") + " && timeout --signal=TERM --kill-after=60 1 " +
                             DELTAPROOF + " " + command + " --engine " + engine + " 2>&1");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    // 124: it ended by itself once it was told to, and did not have to be killed.
    EXPECT_EQ(ran.status, 124) << command << "\n" << ran.output;
    EXPECT_LT(taken.count(), 50) << command;
  }
}

// The other engine's calls are short, however long all of them take together.
TEST_F(AHangingEngine, IsNoneThatIsOnlySlowInAll) {
  const Ran ran = run("check --cases 30 --engine twin --call-seconds 0.5");
  EXPECT_THAT(ran.output, Not(HasSubstr("has not come back")));
}

TEST_F(AHangingEngine, HasALimitThatIsANumber) {
  for (const char* limit : {"nan", "0", "-1", "inf", "soon"}) {
    EXPECT_EQ(run("replay " + path("one.case") + " --call-seconds " + limit).status, 2) << limit;
  }
}

}  // namespace
}  // namespace gdn
