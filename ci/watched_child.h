// A child process that runs the code of engines, which may never come back from a call.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "invariants/harness/call_in_progress.h"

namespace gdn {

// How long one call of an engine may take, in seconds in which it could run: the time that it
// waited for a processor does not count, however busy the machine is, up to nine tenths of all.
void set_call_seconds_max(double seconds);
double call_seconds_max();

// How often a parent has to look.
inline constexpr int look_every_ms = 200;

// Seconds of a child in which it could run, as far as somebody looked: a parent that was itself
// stopped, or a machine that slept, saw none. They count from the first look on: most of what is
// timed ends before there is one, and what the system says of a child costs as much as a small
// case.
class TimeToRun {
 public:
  void start(pid_t child);
  double look();

 private:
  std::map<int, double> waits() const;  // by thread

  pid_t child_ = 0;
  bool is_seen_ = false;
  std::map<int, double> waited_before_;
  double seen_at_ = 0, by_the_clock_ = 0;
};

// Made before the fork, for one child.
class WatchedCalls {
 public:
  WatchedCalls();

  // In the child, first.
  void be_the_child() const;
  // In the parent, every `look_every_ms`: why the child has to be stopped, empty where it has not.
  std::string why_stop(pid_t child);

 private:
  std::shared_ptr<CallShown> shown_;
  uint64_t number_ = 0;  // of the call that is timed
  TimeToRun time_;
};

// Waits for the end of a child, and kills it where that has to be, or `is_enough` says so; in *why
// then why, "" where that was enough. `SIGCHLD` is blocked from before the fork: SignalsOfChildren.
int wait_watched(pid_t child, WatchedCalls& calls, bool (*is_enough)(), std::string* why);

// Blocks SIGCHLD for as long as it is in scope; a child undoes it with `be_the_child`.
class SignalsOfChildren {
 public:
  SignalsOfChildren();
  ~SignalsOfChildren();
  SignalsOfChildren(const SignalsOfChildren&) = delete;
  SignalsOfChildren& operator=(const SignalsOfChildren&) = delete;
  void be_the_child() const;

 private:
  sigset_t before_;
};

}  // namespace gdn
