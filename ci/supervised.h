// Work in a process of its own. An engine is other people's code in our address space: it may crash
// or call exit, and the run must end with a status and a line that say so all the same.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "ci/exit_status.h"

namespace gdn {

// What the work is doing, in memory that its supervisor sees too, whatever becomes of the work.
class Doing {
 public:
  enum class Whose : int { ours, input_file, engine };
  void enter(Whose whose, std::string_view what);
  Whose whose() const { return whose_; }
  std::string what() const { return what_; }

  void finish() { finished_ = true; }
  bool finished() const { return finished_; }

 private:
  std::atomic<bool> finished_{false};
  std::atomic<Whose> whose_{Whose::ours};
  char what_[512] = "";
};

// The status that the work returns. Where it ends in any other way, one line on stderr says what
// ended it and while what, and the status is that of whose code was running: exit_engine_failed,
// exit_bad_input for a file that shrank under its reader, exit_internal.
ExitStatus supervised(const std::function<ExitStatus(Doing&)>& work);

}  // namespace gdn
