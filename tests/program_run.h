// The program as a test runs it: its output and exit status, and a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gdn {

struct Ran {
  int status = -1;
  std::string output;
};

// A line for the shell. Not exited: status -1.
inline Ran run_line(const std::string& line) {
  Ran ran;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    ran.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// deltaproof with these arguments; stdout and stderr together unless `redirect` says otherwise.
inline Ran run(const std::string& arguments, const std::string& redirect = "2>&1") {
  return run_line(std::string(DELTAPROOF) + " " + arguments + " " + redirect);
}

// With a folder that is gone with the test.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "deltaproof_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

 private:
  std::string folder_;
};

}  // namespace gdn
