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

// Open and close of the twin that keep the gate for the calls between.
struct RememberingGates {
  inline static PerHandle<Gate> gates;

  static gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
    const gdn_status status = right_twin().open(shape, options, engine);
    if (status != GDN_OK) return status;
    gates.with(*engine, [options](Gate& gate) {
      gate = {options->allocation_gate, options->allocation_context};
      return 0;
    });
    return status;
  }
  static void close(gdn_engine* engine) {
    gates.forget(engine);
    right_twin().close(engine);
  }
};
inline Gate gate_of(const gdn_engine* engine) {
  return RememberingGates::gates.with(engine, [](const Gate& gate) { return gate; });
}
inline gdn_api twin_remembering_gates(const char* name) {
  gdn_api table = right_twin();
  table.name = name;
  table.open = RememberingGates::open;
  table.close = RememberingGates::close;
  return table;
}

}  // namespace gdn::mutants
