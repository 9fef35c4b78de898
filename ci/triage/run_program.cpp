// A child in a process group of its own, so that all that it started can be ended with it.
#include "ci/triage/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "ci/interrupt.h"

namespace gdn {
namespace {

constexpr int status_not_started = 127;

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& folder,
                         const std::vector<std::pair<std::string, std::string>>& variables,
                         int output) {
  setpgid(0, 0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (!folder.empty() && chdir(folder.c_str()) != 0) std::_Exit(status_not_started);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  execvp(words[0], words.data());
  std::_Exit(status_not_started);
}

// Reads until the child is gone; ends it where this process is asked to end meanwhile.
int listen(pid_t child, int from, std::string& output) {
  const bool asked_before = asked_to_end();
  bool ended = false;
  for (;;) {
    constexpr int wait_ms = 100;
    pollfd waiting = {from, POLLIN, 0};
    char buffer[1 << 12];
    if (from >= 0 && poll(&waiting, 1, wait_ms) > 0) {
      const ssize_t got = read(from, buffer, sizeof buffer);
      if (got > 0) output.append(buffer, static_cast<size_t>(got));
      if (got <= 0) from = -1;
      continue;
    }
    if (from < 0) poll(nullptr, 0, wait_ms / 10);
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (!ended && !asked_before && asked_to_end()) {
      kill(-child, SIGTERM);
      ended = true;
    }
  }
}

}  // namespace

RanProgram run_program(const std::vector<std::string>& arguments, const std::string& folder,
                       const std::vector<std::pair<std::string, std::string>>& variables,
                       const std::string& log) {
  RanProgram ran;
  int ends[2] = {-1, -1};
  if (log.empty()) {
    if (pipe2(ends, O_CLOEXEC) != 0) return ran;
  } else {
    ends[1] = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) become(arguments, folder, variables, ends[1]);
  if (ends[1] >= 0) close(ends[1]);
  if (child > 0) ran.status = listen(child, ends[0], ran.output);
  if (ends[0] >= 0) close(ends[0]);
  return ran;
}

std::string last_lines_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  constexpr int lines_max = 8;
  size_t at = text.size();
  for (int i = 0; i <= lines_max && at != std::string::npos && at > 0; ++i) {
    at = text.rfind('\n', at - 1);
  }
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace gdn
