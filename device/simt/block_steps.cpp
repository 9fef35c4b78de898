// A block by steps: its body runs once, and each step in it for all threads, one after the other on
// one stack. What is checked of accesses is the same; that threads wait where others do not, cannot
// be.
#include <algorithm>
#include <numeric>

#include "device/simt/block.h"
#include "device/simt/random_order.h"

namespace gdn::simt {

void* room_of_steps(size_t bytes) { return running_block->room_of_steps(bytes); }
const unsigned* order_of_step() { return running_block->order_of_step(); }
void open_barrier_of_steps(Site site) { running_block->open_barrier_of_steps(site); }
void tree_sums_of_steps(float* terms, Site site) { running_block->tree_sums_of_steps(terms, site); }

void Block::run_by_steps() {
  running.thread = no_thread;
  try {
    launch_->body(launch_->params);
  } catch (const Stopped&) {
  } catch (...) {
    error_ = std::current_exception();
  }
}

void* Block::room_of_steps(size_t bytes) {
  const size_t wanted = bytes / sizeof(std::max_align_t) + 1;
  if (room_of_steps_.size() < wanted) room_of_steps_.resize(wanted);
  return room_of_steps_.data();
}

const unsigned* Block::order_of_step() {
  if (running.thread != no_thread) fail_in_step({}, "a step");
  if (in_order_) return nullptr;
  RandomOrder random(order_ ^ (uint64_t{run_} << 32) ^ ++step_);
  turn_.resize(count_);
  std::iota(turn_.begin(), turn_.end(), 0U);
  random.shuffle(turn_);
  return turn_.data();
}

void Block::open_barrier_of_steps(Site site) {
  if (running.thread != no_thread) fail_in_step(site, "a barrier");
  advance_clocks();
}

void Block::tree_sums_of_steps(float* terms, Site site) {
  if (running.thread != no_thread) fail_in_step(site, "a warp operation");
  if (count_ % 32 != 0) {
    running.thread = static_cast<int>(count_ - 1);
    fail_for_mask(~0U, ~0U, warps_[warp_count_ - 1].lanes, site);
  }
  for (float* of_warp = terms; of_warp < terms + count_; of_warp += 32) {
    std::fill_n(of_warp, 32, tree_sum(of_warp));
  }
}

// A thread cannot wait in a step, as it has no stack; outside there is none.
void Block::fail_in_step(Site site, const char* what) {
  const bool is_in_step = running.thread != no_thread;
  running.thread = std::max(running.thread, 0);
  fail(FaultKind::divergent_barrier, site,
       std::string(what) + (is_in_step ? " within" : " outside") + " a step of the block");
}

}  // namespace gdn::simt
