// What commands write never takes the place of what they read, and numbers of options are numbers.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ci/files.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Results : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("a.json", "read");
    write("b.json", "read too");
    fs::create_symlink(path("a.json"), path("symbolic.json"));
    fs::create_hard_link(path("a.json"), path("hard.json"));
    write("out/failures.jsonl", "{}");
  }
  std::string why(const std::vector<std::string>& results,
                  const std::vector<std::string>& inputs) const {
    std::vector<std::string> below, read;
    for (const std::string& one : results) below.push_back(one.empty() ? one : path(one));
    for (const std::string& one : inputs) read.push_back(path(one));
    return why_results_in_the_way(below, read);
  }
};

TEST_F(Results, AreInTheWayUnderAnyName) {
  for (const char* result : {"a.json", "symbolic.json", "hard.json", "./a.json", "out/../a.json"}) {
    EXPECT_THAT(why({"", result}, {"b.json", "a.json"}), HasSubstr("it is read")) << result;
  }
  EXPECT_EQ(why({"c.json", "", "out/c.json"}, {"a.json", "b.json", "absent.json"}), "");
}

TEST_F(Results, AreInTheWayOfOneAnother) {
  EXPECT_THAT(why({"c.json", "./c.json"}, {}), HasSubstr("for each of the results"));
  EXPECT_THAT(why({"a.json", "hard.json"}, {}), HasSubstr("for each of the results"));
  EXPECT_EQ(why({"c.json", "", "", "d.json"}, {}), "");
  EXPECT_EQ(why_results_in_the_way({"/dev/null", "/dev/null"}, {"/dev/null"}), "");
}

TEST_F(Results, MayStandInAFolderThatIsReadButForCasesAndRecords) {
  write("out/report.json", "of the run before");
  EXPECT_EQ(why({"out/report.json", "out/new.case"}, {"out"}), "");
  EXPECT_THAT(why({"out/failures.jsonl"}, {"out"}), HasSubstr("it is read"));
}

TEST_F(Results, AreRefusedBeforeAnyWorkAndLeaveWhatIsRead) {
  const std::string capture = path("capture.safetensors");
  fs::copy_file(SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors", capture);
  fs::copy_file(PLUGIN_DIR "/example_plugin.so", path("engine.so"));
  const std::string commands[] = {
      "compare " + path("a.json") + " " + path("b.json") + " --json " + path("hard.json"),
      "compare " + path("a.json") + " " + path("b.json") + " --markdown " + path("b.json"),
      "verify " + capture + " --json " + capture,
      "verify " + capture + " --engine " + path("engine.so") + " --json " + path("engine.so"),
      "check --cases 0 --json " + path("c") + " --markdown " + path("c"),
      "check --cases 0 --engine " + path("engine.so") + " --json " + path("engine.so"),
      "triage " + path("out") + " --json " + path("out/failures.jsonl"),
      "limit --quick --engine " + path("engine.so") + " --json " + path("engine.so")};
  for (const std::string& command : commands) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 2) << command << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("expected another file")) << command;
  }
  EXPECT_EQ(content("a.json"), "read");
  EXPECT_EQ(content("out/failures.jsonl"), "{}");
}

TEST_F(Results, NeedNumbersThatAreNumbers) {
  for (const char* number : {"nan", "-nan", "inf", "1e400", "x"}) {
    const std::string given = std::string(" '") + number + "'";
    const std::string reports = path("a.json") + " " + path("b.json");
    EXPECT_EQ(run("compare " + reports + " --level" + given).status, 2) << number;
    EXPECT_EQ(run("check --cases 1 --seconds" + given).status, 2) << number;
    EXPECT_EQ(run("verify x.safetensors --dialect deltaproof,scale=" + given.substr(1)).status, 2)
        << number;
  }
}

}  // namespace
}  // namespace gdn
