// What a host-state mutant remembers of each open engine. Handles may live in different threads.
#pragma once

#include <map>
#include <mutex>

#include "device/mutants/mutant.h"

namespace gdn::mutants {

template <class T>
class PerHandle {
 public:
  // Does something with what is remembered of a handle.
  template <class Action>
  auto with(const gdn_engine* engine, Action action) {
    const std::lock_guard<std::mutex> guard(lock_);
    return action(of_[engine]);
  }
  // An address is given out again.
  void forget(const gdn_engine* engine) {
    const std::lock_guard<std::mutex> guard(lock_);
    of_.erase(engine);
  }

 private:
  std::mutex lock_;
  std::map<const gdn_engine*, T> of_;
};

// The gate that an engine was opened with.
struct Gate {
  int (*ask)(void* context, uint64_t bytes, int release) = nullptr;
  void* context = nullptr;
};

}  // namespace gdn::mutants
