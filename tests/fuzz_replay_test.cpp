// A fuzz target as a program that replays files: what it refuses, and what it passes over.
#include "tests/program_run.h"

namespace gdn {
namespace {

class FuzzReplay : public ProgramTest {
 protected:
  Ran recurrence(const std::string& arguments) const {
    return run_line(std::string(BINARY_DIR) + "/fuzz/fuzz_recurrence " + arguments + " 2>&1");
  }
  void write_case(const std::string& name, const std::string& layers) const {
    write(name,
          "deltaproof-case 1\nsubject recurrent\nshape hidden_size=1 num_k_heads=1 head_k_dim=1 "
          "num_v_heads=1 head_v_dim=1 conv_kernel=1 num_layers=" +
              layers + "\ntokens 3\n");
  }
};

TEST_F(FuzzReplay, AnUnknownEngineOrOptionIsBadUsageAndNoFinding) {
  write_case("one.case", "1");
  EXPECT_EQ(recurrence("--engine=twin " + path("one.case")).status, 0);
  EXPECT_EQ(recurrence("--engine=nobody " + path("one.case")).status, 2);
  const Ran mistyped = recurrence("--engines=simt " + path("one.case"));
  EXPECT_EQ(mistyped.status, 2);
  EXPECT_NE(mistyped.output.find("--engines=simt: expected --engine=NAME"), std::string::npos)
      << mistyped.output;
}

// A million layers of one number: the recurrence reads none of them, an engine opens them all.
TEST_F(FuzzReplay, AnEngineThatTakesSecondsToOpenIsOfNoTarget) {
  write_case("deep.case", "1048576");
  const Ran ran = recurrence("--engine=twin " + path("deep.case"));
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_NE(ran.output.find("1 inputs ran, 1 of them not of this target"), std::string::npos)
      << ran.output;
}

}  // namespace
}  // namespace gdn
