// Work in a process of its own, which shares one page with its supervisor.
#include "ci/supervised.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

#include "ci/escaped.h"
#include "ci/interrupt.h"
#include "ci/watched_child.h"

namespace gdn {
namespace {

using Whose = Doing::Whose;

void say(const std::string& line) {
  // What a progress line on a terminal left behind is written over.
  fmt::print(stderr, "{}deltaproof: {}\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "",
             visible_lines(line));
}

ExitStatus threw(const Doing& doing, const char* what) {
  if (doing.whose() == Whose::engine) {
    say(fmt::format("{}: an exception came out of the engine: {}", doing.what(), what));
    return exit_engine_failed;
  }
  say(fmt::format("internal error: {}", what));
  return exit_internal;
}

ExitStatus status_of_work(const std::function<ExitStatus(Doing&)>& work, Doing& doing) {
  try {
    return work(doing);
  } catch (const std::system_error& error) {
    // Of the machine, unless an engine threw it: standard output on a full disk is one.
    if (doing.whose() == Whose::engine) return threw(doing, error.what());
    say(error.what());
    return exit_infrastructure;
  } catch (const std::exception& error) {
    return threw(doing, error.what());
  } catch (...) {
    return threw(doing, "of no type that says more");
  }
}

// Ends the process without what exit would run: destructors of an engine's library are its own.
[[noreturn]] void be_the_child(const std::function<ExitStatus(Doing&)>& work, Doing& doing) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const ExitStatus status = status_of_work(work, doing);
  std::fflush(nullptr);
  doing.finish();
  std::_Exit(status);
}

ExitStatus status_of_end(int ended, const Doing& doing) {
  if (WIFEXITED(ended) && doing.finished()) return static_cast<ExitStatus>(WEXITSTATUS(ended));
  const std::string how =
      WIFSIGNALED(ended)
          ? fmt::format("ended by signal {} ({})", WTERMSIG(ended), strsignal(WTERMSIG(ended)))
          : fmt::format("ended by exit({})", WEXITSTATUS(ended));
  if (doing.whose() == Whose::engine) {
    say(fmt::format("{}: {}: the engine crashed or ended the process", doing.what(), how));
    return exit_engine_failed;
  }
  // A mapping has no other way to say that the file has become shorter than it was.
  if (doing.whose() == Whose::input_file && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGBUS) {
    say(fmt::format("{}: it shrank or could not be read on, expected a file that stays as it is",
                    doing.what()));
    return exit_bad_input;
  }
  // Whoever read standard output has gone, and needs no more.
  if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGPIPE) return exit_infrastructure;
  say(fmt::format("internal error: {}: {}", doing.what(), how));
  return exit_internal;
}

ExitStatus no_child(const char* call) {
  say(fmt::format("{} failed: {}", call, std::strerror(errno)));
  return exit_infrastructure;
}

}  // namespace

void Doing::enter(Whose whose, std::string_view doing) {
  const std::string what = visible(doing);
  const size_t length = std::min(what.size(), sizeof what_ - 1);
  std::memcpy(what_, what.data(), length);
  what_[length] = '\0';
  whose_ = whose;
}

ExitStatus supervised(const std::function<ExitStatus(Doing&)>& work) {
  void* const page =
      mmap(nullptr, sizeof(Doing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return no_child("mmap");
  const auto unmap = [](Doing* doing) { munmap(doing, sizeof(Doing)); };
  const std::unique_ptr<Doing, decltype(unmap)> doing(new (page) Doing, unmap);
  std::fflush(nullptr);
  WatchedCalls calls;
  const SignalsOfChildren signals;
  const pid_t child = fork();
  if (child < 0) return no_child("fork");
  if (child == 0) {
    signals.be_the_child();
    calls.be_the_child();
    be_the_child(work, *doing);
  }
  pass_signals_to(child);
  std::string why;
  const int ended = wait_watched(child, calls, child_has_to_end, &why);
  if (!why.empty()) {
    say(doing->whose() == Whose::engine ? fmt::format("{}: {}", doing->what(), why) : why);
    return exit_engine_failed;
  }
  if (WIFSIGNALED(ended)) end_by_passed_signal(WTERMSIG(ended));
  return status_of_end(ended, *doing);
}

}  // namespace gdn
