// Warp operations. A lane waits until every lane of its mask has come to the same operation with
// the same mask; the last one to come works out what each takes, and all go on.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "device/simt/block.h"

namespace gdn::simt {
namespace {

// Lane 4 r + c of the warp has left bytes 4 c to 4 c + 3 of row r, of row r + 8, then those 16
// further on of both; right bytes of the same indices of column r; and takes columns 2 c and
// 2 c + 1 of row r, then of row r + 8.
void multiply(const std::array<MatrixLane*, 32>& lanes) {
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      int32_t sum = 0;
      for (unsigned c = 0; c < 4; ++c) {
        const MatrixLane& left = *lanes[4 * (row % 8) + c];
        const MatrixLane& right = *lanes[4 * column + c];
        for (unsigned far = 0; far < 2; ++far) {
          for (unsigned i = 0; i < 4; ++i) {
            sum += left.left[2 * far + row / 8][i] * right.right[far][i];
          }
        }
      }
      lanes[4 * (row % 8) + column / 2]->sums[2 * (row / 8) + column % 2] = sum;
    }
  }
}

// Of the floats that lanes bring, the sum that each takes.
void add_up(const std::array<uint64_t, 32>& brought, std::array<uint64_t, 32>& taken) {
  std::array<float, 32> terms{};
  for (size_t lane = 0; lane < 32; ++lane) {
    terms[lane] = std::bit_cast<float>(static_cast<uint32_t>(brought[lane]));
  }
  taken.fill(std::bit_cast<uint32_t>(tree_sum(terms.data())));
}

}  // namespace

bool Block::arrived_alike(unsigned one, unsigned two) const {
  const Thread& first = threads_[one];
  const Thread& second = threads_[two];
  return (warps_[one / 32].in_call >> one % 32 & 1) != 0 && first.call == second.call &&
         first.mask == second.mask && first.site == second.site;
}

Turn arrive_at_warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site) {
  return running_block->arrive_at_warp_call(call, mask, value, argument, site);
}
uint64_t go_on_from_warp_call() { return running_block->go_on(); }

// Have all lanes of the mask come with which thread `index` came?
bool Block::has_arrived(unsigned warp, unsigned index) const {
  const uint32_t mask = threads_[index].mask;
  if ((warps_[warp].in_call & mask) != mask) return false;
  if (warps_[warp].is_alike) return true;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!arrived_alike(warp * 32 + lane, index)) return false;
  }
  return true;
}

void Block::fail_for_mask(uint32_t mask, uint32_t caller, uint32_t lanes, Site site) {
  if ((mask & caller) == 0) {
    fail(FaultKind::divergent_warp, site, "the calling lane is not in its own mask");
  }
  fail(FaultKind::divergent_warp, site,
       "the mask names lane " + std::to_string(31 - __builtin_clz(mask)) + ", but the warp has " +
           std::to_string(__builtin_popcount(lanes)) + " threads");
}

Turn Block::arrive_at_warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument,
                                Site site) {
  if (launch_->by_steps) [[unlikely]] {
    fail_in_step(site, "a warp operation");
  }
  const auto index = static_cast<unsigned>(running.thread);
  Warp& warp = warps_[index / 32];
  const uint32_t bit = 1U << index % 32;
  if ((mask & bit) == 0 || (mask & ~warp.lanes) != 0) [[unlikely]] {
    fail_for_mask(mask, bit, warp.lanes, site);
  }
  Thread& mine = threads_[index];
  mine.site = site;
  mine.call = call;
  mine.mask = mask;
  mine.argument = argument;
  if (warp.in_call == 0) {
    warp.call = call;
    warp.mask = mask;
    warp.argument = argument;
    warp.site = site;
    warp.is_alike = warp.is_one_argument = true;
  } else {
    warp.is_alike &= call == warp.call && mask == warp.mask && site == warp.site;
    warp.is_one_argument &= argument == warp.argument;
  }
  warp.value[index % 32] = value;
  warp.in_call |= bit;
  warp.ready &= ~bit;
  if (!has_arrived(index / 32, index)) return turn_of(mine, index);
  complete_warp_call(index / 32, mask);
  return {};
}

// By the one that came last.
void Block::complete_warp_call(unsigned index, uint32_t mask) {
  Warp& warp = warps_[index];
  const WarpCall call = threads_[static_cast<unsigned>(running.thread)].call;
  std::array<uint64_t, 32> taken{};
  if (call == WarpCall::ballot) {
    taken.fill(votes(warp, mask));
  } else if (call == WarpCall::tree_sum) {
    add_up(warp.value, taken);
  } else if (call == WarpCall::matrix_product) {
    std::array<MatrixLane*, 32> operands{};
    for (unsigned lane = 0; lane < 32; ++lane) {
      operands[lane] = reinterpret_cast<MatrixLane*>(warp.value[lane]);
    }
    multiply(operands);
  } else if (call == WarpCall::shuffle_xor && mask == ~0U && warp.is_alike &&
             warp.is_one_argument) {
    const auto flipped = static_cast<unsigned>(warp.argument & 31);
    for (unsigned lane = 0; lane < 32; ++lane) taken[lane] = warp.value[lane ^ flipped];
  } else if (call != WarpCall::sync) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      taken[static_cast<unsigned>(lane)] = shuffled(index, lane);
    }
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    warp.value[lane] = taken[lane];
  }
  warp.in_call &= ~mask;
  warp.ready |= mask;
  // Those who still wait came with something else.
  warp.is_alike = false;
  if (call == WarpCall::sync && options_.checks) join_clocks(index, mask);
}

uint64_t Block::votes(const Warp& warp, uint32_t mask) {
  uint64_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0) votes |= warp.value[lane] << lane;
  }
  return votes;
}

// What a lane takes; its own value where the source lies beyond the warp's ends.
uint64_t Block::shuffled(unsigned warp, int lane) {
  const auto& value = warps_[warp].value;
  const Thread& taker = threads_[warp * 32 + static_cast<unsigned>(lane)];
  const int argument = taker.argument & 31;
  int source = argument;
  if (taker.call == WarpCall::shuffle_xor) source = lane ^ argument;
  if (taker.call == WarpCall::shuffle_down) source = lane + argument;
  if (taker.call == WarpCall::shuffle_up) source = lane - argument;
  if (source < 0 || source > 31) return value[static_cast<size_t>(lane)];
  if ((taker.mask >> source & 1) == 0) {
    running.thread = static_cast<int>(warp * 32) + lane;
    fail(FaultKind::undefined_shuffle, taker.site,
         "takes from lane " + std::to_string(source) + ", which is not in the mask");
  }
  return value[static_cast<size_t>(source)];
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
