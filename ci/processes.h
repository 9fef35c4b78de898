// Work shared out over processes. An engine may take its process with it: the step at which it did
// is reported, another process takes its place, and the work goes on after that step.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace gdn {

// What a task uses to tell the process that shares the work out.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  // Before each step in which foreign code runs. Steps of a task only grow.
  void begin(size_t step);
  // What the step gave; the step is over. It is sent with what comes next, as each message wakes
  // the other process.
  void put(std::string_view result);

 private:
  friend class Worker;
  void add(char kind, size_t step, std::string_view bytes);
  void send();
  int descriptor_;
  std::string unsent_;
  size_t step_ = 0;
};

struct Work {
  size_t tasks = 0;
  // Takes a task from the step `first` on, in a process of its own.
  std::function<void(size_t task, size_t first, Channel&)> run;
  // These are called in the process that shares out: results of a task in the order of its steps,
  // tasks in any order.
  std::function<void(size_t task, size_t step, std::string_view result)> result;
  std::function<void(size_t task, size_t step, const std::string& how)> crashed;
  // A step that takes more seconds than this (TimeToRun) is stopped, as is one with a call that
  // takes more than a call may, and the work goes on after it. 0: each takes what it takes.
  double step_seconds_max = 0;
  // In `how` why it was stopped. Null: as a crash.
  std::function<void(size_t task, size_t step, const std::string& how)> hung = {};
  std::function<void(size_t task)> done;
  // Asked before a task is handed out, in order; true ends it there. Null: all tasks.
  std::function<bool(size_t task)> stop;
};

// As many processes as there are cores for this one.
int processes_here();

// Returns when all that was handed out is done, or soon after the wish to end. Throws where there
// can be no processes, and where one ends outside a step: that is a fault of ours.
void share_out(int processes, const Work& work);

struct Ending {
  std::string how;     // empty: it came back
  bool hangs = false;  // a call did not come back, and the process was stopped
};
// What becomes of `probe` in a process of its own. The wish to end ends it too.
Ending how_it_ends(const std::function<void()>& probe);

}  // namespace gdn
