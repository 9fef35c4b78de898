// Processes over a pair of sockets each: tasks go down as two numbers, frames come up.
#include "ci/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "ci/interrupt.h"
#include "ci/watched_child.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

constexpr char frame_begin = 'b', frame_result = 'r', frame_done = 'd';

struct Frame {
  uint64_t kind, step, bytes;
};
struct Assignment {
  uint64_t task, first;
};

[[noreturn]] void no_process(const char* call) {
  throw std::runtime_error(fmt::format("{} failed: {}", call, std::strerror(errno)));
}

// False where the other end is gone.
bool write_all(int descriptor, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::send(descriptor, at, bytes, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return true;
}

bool read_all(int descriptor, void* data, size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::read(descriptor, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

std::string how_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended by exit({})", WEXITSTATUS(status));
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) no_process("waitpid");
  }
  return status;
}

// A child dies with its parent, and leaves no core: what ended it is replayed from its case.
pid_t fork_child(const WatchedCalls& calls) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) no_process("fork");
  if (child == 0) {
    calls.be_the_child();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    leave_signals_to_parent();
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
  }
  return child;
}

}  // namespace

void Channel::add(char kind, size_t step, std::string_view bytes) {
  const Frame frame = {static_cast<uint64_t>(kind), step, bytes.size()};
  unsent_.append(reinterpret_cast<const char*>(&frame), sizeof frame);
  unsent_ += bytes;
}

void Channel::send() {
  if (!write_all(descriptor_, unsent_.data(), unsent_.size())) std::_Exit(0);
  unsent_.clear();
}

void Channel::begin(size_t step) {
  step_ = step;
  add(frame_begin, step, "");
  send();
}

void Channel::put(std::string_view result) { add(frame_result, step_, result); }

// One child, and what the parent knows of it.
class Worker {
 public:
  explicit Worker(const Work& work) : work_(work) { start(); }
  ~Worker() {
    close(descriptor_);
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    int status = 0;
    waitpid(child_, &status, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool busy() const { return task_.has_value(); }
  int descriptor() const { return descriptor_; }

  void give(size_t task, size_t first) {
    task_ = task;
    in_step_.reset();
    next_step_ = first;
    const Assignment assignment = {task, first};
    write_all(descriptor_, &assignment, sizeof assignment);
  }

  // Takes what the child has written. A child that is gone is replaced.
  void listen() {
    char buffer[1 << 16];
    const ssize_t got = ::read(descriptor_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) return;
    if (got > 0) {
      pending_.append(buffer, static_cast<size_t>(got));
      take_frames();
      return;
    }
    replace();
  }

  // What it wrote before is still taken by `listen`, which finds it gone after that.
  void stop_if_it_hangs() {
    if (!in_step_ || !why_stopped_.empty()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_at_ < std::chrono::milliseconds(look_every_ms)) return;
    looked_at_ = now;
    why_stopped_ = calls_.why_stop(child_);
    const double seconds = step_time_.look();
    if (why_stopped_.empty() && work_.step_seconds_max > 0 && seconds > work_.step_seconds_max) {
      why_stopped_ = fmt::format("nothing came of it in {} s: it hangs", work_.step_seconds_max);
    }
    if (!why_stopped_.empty()) kill(child_, SIGKILL);
  }

 private:
  void start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) no_process("socketpair");
    calls_ = WatchedCalls();
    child_ = fork_child(calls_);
    if (child_ == 0) {
      close(ends[0]);
      serve(ends[1]);
    }
    close(ends[1]);
    descriptor_ = ends[0];
    pending_.clear();
  }

  [[noreturn]] void serve(int descriptor) const {
    Channel channel(descriptor);
    try {
      Assignment assignment = {};
      while (read_all(descriptor, &assignment, sizeof assignment)) {
        work_.run(assignment.task, assignment.first, channel);
        channel.add(frame_done, 0, "");
        channel.send();
      }
    } catch (const std::exception& error) {
      channel.send();
      fmt::print(stderr, "deltaproof: {}\n", error.what());
      std::_Exit(1);
    } catch (...) {
      channel.send();
      std::_Exit(1);
    }
    std::_Exit(0);
  }

  void take_frames() {
    size_t at = 0;
    Frame frame = {};
    while (pending_.size() - at >= sizeof frame) {
      std::memcpy(&frame, pending_.data() + at, sizeof frame);
      if (pending_.size() - at - sizeof frame < frame.bytes) break;
      take(frame, std::string_view(pending_).substr(at + sizeof frame, frame.bytes));
      at += sizeof frame + frame.bytes;
    }
    pending_.erase(0, at);
  }

  void take(const Frame& frame, std::string_view bytes) {
    if (frame.kind == frame_begin) {
      in_step_ = frame.step;
      step_time_.start(child_);
    }
    if (frame.kind == frame_result) {
      in_step_.reset();
      next_step_ = frame.step + 1;
      work_.result(*task_, frame.step, bytes);
    }
    if (frame.kind == frame_done) {
      const size_t task = *task_;
      task_.reset();
      work_.done(task);
    }
  }

  void replace() {
    const std::string how = how_ended(wait_for(std::exchange(child_, 0)));
    const std::string why = std::exchange(why_stopped_, "");
    // One that was stopped may have come to the end of its step just before.
    if (why.empty() && (!task_ || !in_step_)) {
      throw std::runtime_error("a process that judges " + how);
    }
    close(descriptor_);
    if (in_step_) {
      next_step_ = *in_step_ + 1;
      const auto& told = !why.empty() && work_.hung ? work_.hung : work_.crashed;
      told(*task_, *in_step_, why.empty() ? how : why);
    }
    start();
    if (task_) give(*task_, next_step_);
  }

  const Work& work_;
  pid_t child_ = 0;
  int descriptor_ = -1;
  std::string pending_;
  std::optional<size_t> task_, in_step_;
  size_t next_step_ = 0;  // to begin with, where another process goes on
  WatchedCalls calls_;
  TimeToRun step_time_;
  std::chrono::steady_clock::time_point looked_at_;
  std::string why_stopped_;  // not empty: because it hung
};

namespace {

// While processes share the cores out, each uses its part of them: children begin with what their
// parent has.
class ShareOfThreads {
 public:
  explicit ShareOfThreads(size_t processes) : before_(threads_max()) {
    set_threads_max(before_ / static_cast<int64_t>(std::max<size_t>(1, processes)));
  }
  ~ShareOfThreads() { set_threads_max(before_); }
  ShareOfThreads(const ShareOfThreads&) = delete;
  ShareOfThreads& operator=(const ShareOfThreads&) = delete;

 private:
  const int64_t before_;
};

}  // namespace

int processes_here() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void share_out(int processes, const Work& work) {
  std::deque<Worker> workers;
  const size_t wanted = std::min(work.tasks, static_cast<size_t>(std::max(1, processes)));
  const ShareOfThreads share(wanted);
  while (workers.size() < wanted) workers.emplace_back(work);
  size_t next = 0;
  bool stopped = false;
  const auto give_next = [&](Worker& worker) {
    stopped = stopped || next == work.tasks || (work.stop && work.stop(next));
    if (!stopped) worker.give(next++, 0);
  };
  for (Worker& worker : workers) give_next(worker);
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<Worker*> busy;
    for (Worker& worker : workers) {
      if (!worker.busy()) continue;
      waiting.push_back({worker.descriptor(), POLLIN, 0});
      busy.push_back(&worker);
    }
    if (busy.empty() || has_to_end()) return;
    if (poll(waiting.data(), waiting.size(), look_every_ms) < 0 && errno != EINTR)
      no_process("poll");
    for (size_t i = 0; i < busy.size(); ++i) {
      if (waiting[i].revents == 0) {
        busy[i]->stop_if_it_hangs();
        continue;
      }
      busy[i]->listen();
      if (!busy[i]->busy()) give_next(*busy[i]);
    }
  }
}

Ending how_it_ends(const std::function<void()>& probe) {
  int ends[2];
  if (pipe(ends) != 0) no_process("pipe");
  const SignalsOfChildren signals;
  WatchedCalls calls;
  const pid_t child = fork_child(calls);
  if (child == 0) {
    signals.be_the_child();
    close(ends[0]);
    try {
      probe();
    } catch (...) {
      std::_Exit(1);
    }
    // The byte tells a probe that came back from one that called exit.
    std::_Exit(write(ends[1], "d", 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  std::string why;
  const int status = wait_watched(child, calls, asked_to_end, &why);
  char byte = 0;
  const bool came_back = read_all(ends[0], &byte, 1);
  close(ends[0]);
  if (!why.empty()) return {why, true};
  return {came_back ? "" : how_ended(status), false};
}

}  // namespace gdn
