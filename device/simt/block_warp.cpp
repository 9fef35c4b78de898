// Warp operations. A lane waits until every lane of its mask has come to the same operation with
// the same mask; the last one to come works out what each takes, and all go on.
#include <algorithm>
#include <string>

#include "device/simt/block.h"

namespace gdn::simt {

bool Block::arrived_alike(const Thread& one, const Thread& two) const {
  return one.status == Status::in_warp_call && one.call == two.call && one.mask == two.mask &&
         one.site == two.site;
}

[[gnu::flatten]] uint64_t warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument,
                                    Site site) {
  return running_block->warp_call(call, mask, value, argument, site);
}

uint64_t Block::warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site) {
  const auto index = static_cast<unsigned>(running.thread);
  const unsigned warp = index / 32;
  const unsigned first = warp * 32;
  const unsigned lanes = count_ - first < 32 ? count_ - first : 32;
  if ((mask >> (index - first) & 1) == 0) {
    fail(FaultKind::divergent_warp, site, "the calling lane is not in its own mask");
  }
  if (lanes < 32 && (mask >> lanes) != 0) {
    fail(FaultKind::divergent_warp, site,
         "the mask names lane " + std::to_string(31 - __builtin_clz(mask)) + ", but the warp has " +
             std::to_string(lanes) + " threads");
  }
  Thread& mine = threads_[index];
  mine.status = Status::in_warp_call;
  mine.site = site;
  mine.call = call;
  mine.mask = mask;
  mine.value = value;
  mine.argument = argument;
  uint32_t& waiting = waiting_lanes_[warp];
  waiting |= 1U << (index - first);
  bool complete = (waiting & mask) == mask;
  for (unsigned lane = 0; lane < lanes && complete; ++lane) {
    complete = (mask >> lane & 1) == 0 || arrived_alike(threads_[first + lane], mine);
  }
  if (complete) {
    waiting &= ~mask;
    complete_warp_call(warp, mask);
  } else {
    wait(Status::in_warp_call, site);
  }
  return mine.value;
}

void Block::complete_warp_call(unsigned warp, uint32_t mask) {
  Thread* const lanes = &threads_[warp * 32];
  const WarpCall call = lanes[__builtin_ctz(mask)].call;
  std::array<uint64_t, 32> taken{};
  if (call == WarpCall::ballot) {
    taken.fill(votes(lanes, mask));
  } else if (call != WarpCall::sync) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      taken[static_cast<unsigned>(lane)] = shuffled(warp, lane);
    }
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    lanes[lane].value = taken[lane];
    lanes[lane].status = Status::ready;
  }
  ready_[warp] |= mask;
  if (call == WarpCall::sync && options_.checks) join_clocks(warp, mask);
}

uint64_t Block::votes(const Thread* lanes, uint32_t mask) {
  uint64_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0) votes |= lanes[lane].value << lane;
  }
  return votes;
}

// What a lane takes; its own value where the source lies beyond the warp's ends.
uint64_t Block::shuffled(unsigned warp, int lane) {
  Thread* const lanes = &threads_[warp * 32];
  const Thread& taker = lanes[lane];
  const int argument = taker.argument & 31;
  int source = argument;
  if (taker.call == WarpCall::shuffle_xor) source = lane ^ argument;
  if (taker.call == WarpCall::shuffle_down) source = lane + argument;
  if (taker.call == WarpCall::shuffle_up) source = lane - argument;
  if (source < 0 || source > 31) return taker.value;
  if ((taker.mask >> source & 1) == 0) {
    running.thread = static_cast<int>(warp * 32) + lane;
    fail(FaultKind::undefined_shuffle, taker.site,
         "takes from lane " + std::to_string(source) + ", which is not in the mask");
  }
  return lanes[source].value;
}

// What any of the lanes did before, comes before what each does from here on.
void Block::join_clocks(unsigned warp, uint32_t mask) {
  Thread* const lanes = &threads_[warp * 32];
  std::array<uint32_t, 32> joined{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (unsigned i = 0; i < 32; ++i) joined[i] = std::max(joined[i], lanes[lane].known[i]);
    joined[lane] = std::max(joined[lane], lanes[lane].time);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    lanes[lane].known = joined;
    lanes[lane].time += 1;
  }
}

}  // namespace gdn::simt
