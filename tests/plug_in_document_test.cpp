// docs/plug-in-your-engine.md followed: every command in a block `sh` is run in the order in which
// it stands, and ends with the status that is said of it. What it shows is what they print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <vector>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

std::string document() {
  std::ifstream in(std::string(SOURCE_DIR) + "/docs/plug-in-your-engine.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Command {
  std::string line;
  int status = 0;
};

std::vector<Command> commands_of(const std::string& text) {
  std::vector<Command> commands;
  bool inside = false;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
      continue;
    }
    if (!inside) continue;
    std::smatch said;
    const bool has_status = std::regex_match(line, said, std::regex("(.*?) +# status ([0-9])"));
    commands.push_back(has_status ? Command{said[1], std::stoi(said[2])} : Command{line, 0});
  }
  return commands;
}

// A column is as wide as its longest cell, and a path may be that.
std::string without_padding(const std::string& text) {
  return std::regex_replace(text, std::regex(" +"), " ");
}

class PlugInDocument : public ProgramTest {
 protected:
  // What is built goes into the test's own folder, with the program of this build.
  std::string as_run_here(std::string line) const {
    const std::pair<const char*, std::string> places[] = {
        {R"(\bout/)", path("out/")},
        {R"(mkdir -p out$)", "mkdir -p " + path("out")},
        {R"(build/dev/deltaproof check)",
         "build/dev/deltaproof check --out " + path("out") + " --jobs 1"},
        {R"(build/dev/deltaproof)", DELTAPROOF},
        {R"(^python3)", "PYTHONDONTWRITEBYTECODE=1 " + std::string(PYTHON)}};
    for (const auto& [pattern, place] : places) {
      line = std::regex_replace(line, std::regex(pattern), place);
    }
    return "cd " SOURCE_DIR " && " + line + " 2>&1";
  }
};

TEST_F(PlugInDocument, IsFollowedAsItStands) {
  const std::vector<Command> commands = commands_of(document());
  EXPECT_GE(commands.size(), 10U) << "the scan found too little to be trusted";
  std::string printed;
  for (const Command& command : commands) {
    const Ran ran = run_line(as_run_here(command.line));
    EXPECT_EQ(ran.status, command.status) << command.line << "\n" << ran.output;
    printed += ran.output;
  }
  // The lines that the document quotes, the library as it is named there.
  printed = std::regex_replace(printed, std::regex(path("out/")), "out/");
  for (const char* shown : {"out/only_dequant.so  local  dequant   dequantised  4096",
                            "suspect: delta_rule of capture: it fails on its own inputs"}) {
    EXPECT_THAT(document(), HasSubstr(std::string("    ") + shown));
    EXPECT_THAT(without_padding(printed), HasSubstr(without_padding(shown)));
  }
  EXPECT_THAT(printed, HasSubstr(" hold, 0 fail, "));
}

TEST_F(PlugInDocument, AFaultInTheSmallestEngineIsFound) {
  std::ifstream in(std::string(SOURCE_DIR) + "/tests/plugins/only_dequant.cpp");
  std::stringstream source;
  source << in.rdbuf();
  const std::string wrong = std::regex_replace(source.str(), std::regex("- 8\\);"), "- 7);");
  ASSERT_NE(wrong, source.str());
  write("wrong.cpp", wrong);
  const std::string library = path("wrong.so");
  const Ran built =
      run_line("g++ -std=c++20 -O2 -ffp-contract=off -fPIC -shared -I" SOURCE_DIR " " +
               path("wrong.cpp") + " -o " + library + " 2>&1");
  ASSERT_EQ(built.status, 0) << built.output;
  const Ran ran = run("check --engine " + library + " --cases 500 --out " + path("out"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("dequant_is_exact"));
  const Ran triaged = run("triage " + path("out") + " --out " + path("triaged"));
  EXPECT_THAT(triaged.output, HasSubstr("dequant is wrong"));
}

TEST_F(PlugInDocument, AnEngineWithoutItsDeviceIsStatus5) {
  const std::string library = std::string(PLUGIN_DIR) + "/only_dequant_cuda.so";
  if (!std::filesystem::exists(library)) return;  // this build has no nvcc
  const Ran ran =
      run("verify " SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors --engine " + library);
  // With a device it is an engine like any other.
  EXPECT_THAT(ran.status, testing::AnyOf(0, 5)) << ran.output;
  EXPECT_EQ(ran.status == 5, ran.output.find("there is no CUDA device here") != std::string::npos);
}

}  // namespace
}  // namespace gdn
