// Who used each byte of a memory last: of every interval its last write, and the reads since. Two
// of them collide if one writes and the later does not know that the earlier has ended.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "device/ascend_sim/queues.h"

namespace gdn::ascend {

class AccessLog {
 public:
  // Notes an access by an instruction that knows `known`; the first collision, without the
  // buffer's name. Cores know nothing of each other.
  std::optional<Hazard> note(int64_t begin, int64_t end, bool writes, const Stamp& stamp,
                             const Clock& known);

 private:
  struct Segment {
    int64_t end = 0;
    Stamp writer;                // of number 0: nobody yet
    std::vector<Stamp> readers;  // the last of each queue of each core since the write
  };

  void cut_at(int64_t at);
  void cover(int64_t begin, int64_t end);

  std::map<int64_t, Segment> segments_;  // by their begin; they do not overlap
};

}  // namespace gdn::ascend
