// What the simulator found wrong in a launch or in the host's use of memory: a value, so that the
// engine goes on with its memory intact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/simt/site.h"

namespace gdn::simt {

enum class FaultKind : uint8_t {
  out_of_bounds,
  use_after_free,
  uninitialised_read,
  misaligned,
  race,               // two unordered accesses to one byte, of which one writes
  divergent_barrier,  // a barrier that not all threads of the block reach
  divergent_warp,     // a warp operation that not all lanes of its mask reach
  undefined_shuffle,  // a shuffle from a lane outside its mask
  early_access,       // of what an earlier launch may still be at, before waiting for it
  bad_launch,         // a shape that no GPU takes
  bad_host_access,    // a copy, fill or release by the host outside live memory
};
std::string_view name_of(FaultKind kind);

struct Place {
  unsigned block = 0;
  unsigned block_y = 0;
  unsigned thread = 0;
  Site site;
};

struct Fault {
  FaultKind kind = FaultKind::bad_launch;
  std::string kernel;          // empty for the host's own accesses
  std::optional<Place> place;  // of the thread that was stopped
  std::optional<Place> other;  // of a race: the earlier access; of divergence: a thread not there
  std::string detail;

  // One line: kind, kernel, block, thread, file and line, detail, the other place.
  std::string text() const;
};

}  // namespace gdn::simt
