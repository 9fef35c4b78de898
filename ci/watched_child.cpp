// Time of child processes, and what is shown of their calls.
#include "ci/watched_child.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

namespace gdn {
namespace {

// A hundred times the slowest call of the corpus, a token of a layer of 27B shape on the checked
// simulator: five of them and their reference took 38 s on two busy cores, by `deltaproof verify
// corpus/oracle/gdn_qwen35_27b_l0.safetensors --engine simt_checked`.
double call_seconds = 1200;

double seconds_by_the_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void no_child(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

}  // namespace

void set_call_seconds_max(double seconds) { call_seconds = seconds; }
double call_seconds_max() { return call_seconds; }

// The second number of schedstat: nanoseconds in which a thread was ready, and others ran.
std::map<int, double> TimeToRun::waits() const {
  std::map<int, double> waits;
  std::error_code none;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", child_), none);
  for (const std::filesystem::directory_entry& thread : threads) {
    std::ifstream in(thread.path() / "schedstat");
    double ran = 0;
    double waited = 0;
    if (in >> ran >> waited) waits[std::atoi(thread.path().filename().c_str())] = 1e-9 * waited;
  }
  return waits;
}

void TimeToRun::start(pid_t child) {
  child_ = child;
  is_seen_ = false;
}

double TimeToRun::look() {
  constexpr double seen_at_once_max = 5e-3 * look_every_ms;
  // Of all waiting so much at most, so that what never comes back has an end on any machine.
  constexpr double waiting_max = 0.9;
  const double now = seconds_by_the_clock();
  if (!is_seen_) {
    is_seen_ = true;
    waited_before_ = waits();
    seen_at_ = now;
    by_the_clock_ = 0;
    return 0;
  }
  by_the_clock_ += std::min(now - seen_at_, seen_at_once_max);
  seen_at_ = now;
  double waited = 0;
  for (const auto& [thread, seconds] : waits()) {
    const auto before = waited_before_.find(thread);
    waited = std::max(waited, seconds - (before == waited_before_.end() ? 0 : before->second));
  }
  return by_the_clock_ - std::min(waited, waiting_max * by_the_clock_);
}

WatchedCalls::WatchedCalls() {
  void* const page =
      mmap(nullptr, sizeof(CallShown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) no_child("mmap");
  shown_ = std::shared_ptr<CallShown>(new (page) CallShown,
                                      [](CallShown* shown) { munmap(shown, sizeof(CallShown)); });
}

void WatchedCalls::be_the_child() const { show_calls_in(shown_.get()); }

std::string WatchedCalls::why_stop(pid_t child) {
  const uint64_t number = shown_->number();
  if (number == 0) return "";
  if (number != number_) {
    number_ = number;
    time_.start(child);
    return "";
  }
  if (time_.look() < call_seconds) return "";
  return fmt::format(
      "{} has not come back after {} s: it hangs, or needs more than --call-seconds allows",
      shown_->in_words(), call_seconds);
}

SignalsOfChildren::SignalsOfChildren() {
  sigset_t of_children;
  sigemptyset(&of_children);
  sigaddset(&of_children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &of_children, &before_);
}

SignalsOfChildren::~SignalsOfChildren() { be_the_child(); }

void SignalsOfChildren::be_the_child() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int wait_watched(pid_t child, WatchedCalls& calls, bool (*is_enough)(), std::string* why) {
  why->clear();
  sigset_t of_children;
  sigemptyset(&of_children);
  sigaddset(&of_children, SIGCHLD);
  constexpr timespec until_next_look = {0, look_every_ms * 1'000'000L};
  bool is_killed = false;
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, is_killed ? 0 : WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) no_child("waitpid");
    *why = calls.why_stop(child);
    if (!why->empty() || is_enough()) {
      kill(child, SIGKILL);
      is_killed = true;
      continue;
    }
    sigtimedwait(&of_children, nullptr, &until_next_look);
  }
}

}  // namespace gdn
