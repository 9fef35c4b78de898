// What a call of recurrent does, read from its index arrays on the host: which tokens, slots and
// states each sequence has. The arrays are small beside the states.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "device/gdn.h"
#include "device/host/token.h"

namespace gdn::host {

// Index arrays as they stand in the engine's buffers; those of absent views are empty.
struct RecurrentIndices {
  explicit RecurrentIndices(std::pmr::memory_resource* memory)
      : sequences(memory), slots(memory), accepted(memory), from_zero(memory) {}
  std::pmr::vector<int32_t> sequences, slots, accepted, from_zero;
};

struct RecurrentPlan {
  explicit RecurrentPlan(std::pmr::memory_resource* memory) : sequences(memory), store(memory) {}
  std::pmr::vector<SequenceOfCall> sequences;  // those that a kernel has work for
  std::pmr::vector<int64_t> store;  // of each token, the slot that its state goes to; -1: none
};

// Throws Failed where an index array holds what it may not.
void plan_recurrent(const gdn_recurrent_args& args, const RecurrentIndices& indices,
                    RecurrentPlan& plan);

}  // namespace gdn::host
