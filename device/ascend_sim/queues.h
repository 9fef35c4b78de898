// The four queues of a core, what is known to have ended, and how a collision is told. An
// instruction is named by its queue and its number in it, counted from 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gdn::ascend {

enum class Queue : uint8_t { copy_in, vector, scalar, copy_out };
inline constexpr size_t queue_count = 4;
const char* name_of(Queue queue);

// Of each queue, up to which number its instructions are known to have ended.
using Clock = std::array<int64_t, queue_count>;

// Where the program stands; -1: not in a loop over them.
struct Place {
  int64_t sequence = -1, head = -1, token = -1, tile = -1;
};

// One instruction, as others remember it.
struct Stamp {
  int64_t core = -1;
  Queue queue = Queue::scalar;
  int64_t number = 0;
  const char* what = "";
  Place place;
};

// Two accesses to the same bytes that nothing orders and of which one writes.
struct Hazard {
  std::string buffer;
  int64_t begin = 0, end = 0;  // bytes of the buffer
  Stamp earlier, later;        // as the program issued them
  bool earlier_writes = false, later_writes = false;

  std::string text() const;
};

}  // namespace gdn::ascend
