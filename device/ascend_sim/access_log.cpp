// Segments are split where an access begins or ends, so that each is covered whole or not at all.
#include "device/ascend_sim/access_log.h"

#include <algorithm>

namespace gdn::ascend {
namespace {

bool has_ended(const Stamp& earlier, const Stamp& later, const Clock& known) {
  if (earlier.number == 0) return true;
  return earlier.core == later.core && known[static_cast<size_t>(earlier.queue)] >= earlier.number;
}

}  // namespace

void AccessLog::cut_at(int64_t at) {
  auto after = segments_.upper_bound(at);
  if (after == segments_.begin()) return;
  auto& [begin, segment] = *std::prev(after);
  if (begin == at || segment.end <= at) return;
  segments_.emplace_hint(after, at, segment);
  segment.end = at;
}

// Gaps within become segments that nobody has used.
void AccessLog::cover(int64_t begin, int64_t end) {
  cut_at(begin);
  cut_at(end);
  int64_t at = begin;
  while (at < end) {
    const auto next = segments_.lower_bound(at);
    if (next != segments_.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    const int64_t gap_end = next == segments_.end() ? end : std::min<int64_t>(end, next->first);
    segments_.emplace_hint(next, at, Segment{gap_end, {}, {}});
    at = gap_end;
  }
}

std::optional<Hazard> AccessLog::note(int64_t begin, int64_t end, bool writes, const Stamp& stamp,
                                      const Clock& known) {
  if (begin >= end) return std::nullopt;
  cover(begin, end);
  std::optional<Hazard> first;
  const auto collide = [&](int64_t from, int64_t to, const Stamp& earlier, bool earlier_writes) {
    if (first || has_ended(earlier, stamp, known)) return;
    first = Hazard{"", from, to, earlier, stamp, earlier_writes, writes};
  };
  for (auto at = segments_.lower_bound(begin); at != segments_.end() && at->first < end; ++at) {
    Segment& segment = at->second;
    // Those that came last are told first: readers came after the writer.
    if (writes) {
      for (const Stamp& reader : segment.readers) collide(at->first, segment.end, reader, false);
    }
    collide(at->first, segment.end, segment.writer, true);
    if (writes) {
      segment.readers.clear();
      segment.writer = stamp;
      continue;
    }
    const auto same =
        std::find_if(segment.readers.begin(), segment.readers.end(), [&](const Stamp& reader) {
          return reader.core == stamp.core && reader.queue == stamp.queue;
        });
    if (same == segment.readers.end()) {
      segment.readers.push_back(stamp);
    } else {
      *same = stamp;
    }
  }
  return first;
}

}  // namespace gdn::ascend
