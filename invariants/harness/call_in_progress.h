// Which call of which engine a process is in, where its parent sees it: an engine is other people's
// code, and may never come back from one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "device/gdn.h"

namespace gdn {

// In memory that parent and child share. One process writes it.
class CallShown {
 public:
  void begin(std::string_view engine, std::string_view call);
  void end();

  // Another number for each call, 0 between two of them.
  uint64_t number() const;
  std::string in_words() const;  // "engine ./lib.so: step"

 private:
  std::atomic<uint64_t> begun_{0}, ended_{0};
  char engine_[256] = "", call_[32] = "";
};

// Where this process shows its calls from here on, and its children do until they have a place of
// their own; null: nowhere.
void show_calls_in(CallShown* shown);

// In scope for as long as the code of an engine runs.
class InCall {
 public:
  InCall(std::string_view engine, std::string_view call);
  ~InCall();
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

// An engine's handle with the table that it belongs to.
struct ShownHandle {
  std::string engine;
  const gdn_api* api = nullptr;
  gdn_engine* handle = nullptr;
};
// The table of an engine whose handles are pointers to a ShownHandle each, and whose calls are
// shown. What takes no handle is as it was.
gdn_api shown_calls(const gdn_api& api);

}  // namespace gdn
