// Which tokens, slots and states each sequence of a call of recurrent has, read from its index
// arrays.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "device/gdn.h"

namespace gdn::twin {

struct PlannedSequence {
  int64_t index;  // n of N
  int64_t first_token, tokens;
  int64_t start_slot;  // -1: padding
  bool from_zero;
};

struct RecurrentPlan {
  explicit RecurrentPlan(std::pmr::memory_resource* memory) : sequences(memory), store(memory) {}
  std::pmr::vector<PlannedSequence> sequences;  // those that have tokens
  std::pmr::vector<int64_t> store;  // of each token, the slot that its state goes to; -1: none
};

}  // namespace gdn::twin
