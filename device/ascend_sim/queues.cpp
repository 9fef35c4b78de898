// Names and words.
#include "device/ascend_sim/queues.h"

#include <cinttypes>
#include <cstdio>

namespace gdn::ascend {
namespace {

std::string words_of(const Stamp& stamp, bool writes) {
  char text[200];
  std::snprintf(text, sizeof text,
                "%s (%s, core %" PRId64 ", sequence %" PRId64 ", head %" PRId64 ", token %" PRId64
                ", tile %" PRId64 ") %s",
                name_of(stamp.queue), stamp.what, stamp.core, stamp.place.sequence,
                stamp.place.head, stamp.place.token, stamp.place.tile, writes ? "writes" : "reads");
  return text;
}

}  // namespace

const char* name_of(Queue queue) {
  constexpr const char* names[] = {"copy_in", "vector", "scalar", "copy_out"};
  return names[static_cast<size_t>(queue)];
}

std::string Hazard::text() const {
  return words_of(later, later_writes) + " " + buffer + " bytes [" + std::to_string(begin) + ", " +
         std::to_string(end) + ") and nothing orders it after " +
         words_of(earlier, earlier_writes) + " them";
}

}  // namespace gdn::ascend
