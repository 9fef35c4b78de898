// How a block runs: each thread up to where it must wait, warp by warp; the barrier opens when all
// threads wait at it; when none can go on and it does not open, the block has diverged.
#include "device/simt/block.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "device/simt/random_order.h"

namespace gdn::simt {

thread_local constinit Running running;
thread_local constinit Block* running_block = nullptr;

namespace {

constexpr unsigned threads_max = 1024;

}  // namespace

[[gnu::flatten]] void block_barrier(Site site) { running_block->barrier(site); }

Block::Block(const Options& options, Memory& memory)
    : options_(options), memory_(memory), shared_(options) {
  threads_.reserve(threads_max);  // fibers hold the address of their thread
}

Block::~Block() {
  for (Thread& thread : threads_) keep_fiber(std::move(thread.fiber));
}

std::optional<Fault> Block::run(const Launch& launch, unsigned index, uint64_t order) {
  begin(launch, index);
  in_order_ = order == 0;
  while (true) {
    if (in_order_) {
      run_ready_in_order();
    } else {
      run_ready_shuffled(order);
    }
    if (stopping() || all_are(Status::finished)) break;
    fault_ = divergence();
    if (stopping()) break;
    open_barrier();
  }
  stop_rest();
  running = {};
  running_block = nullptr;
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::exchange(fault_, std::nullopt);
}

void Block::begin(const Launch& launch, unsigned index) {
  launch_ = &launch;
  count_ = launch.shape.threads;
  block_ = index % launch.shape.blocks;
  block_y_ = index / launch.shape.blocks;
  run_ = launch.first_run + index;
  barrier_time_ = 1;
  waiting_lanes_.fill(0);
  ready_.fill(0);
  while (threads_.size() < count_) add_thread();
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].status = Status::fresh;
    set_ready(i);
    threads_[i].time = 1;
    if (options_.checks) threads_[i].known.fill(0);
  }
  shared_.begin_block(launch.shape.shared_bytes);
  running_block = this;
  running.checks = options_.checks;
  running.threads = static_cast<int>(count_);
  running.block = static_cast<int>(block_);
  running.block_y = static_cast<int>(block_y_);
  running.blocks = static_cast<int>(launch.shape.blocks);
  running.blocks_y = static_cast<int>(launch.shape.blocks_y);
}

// Where there is no memory for its stack, nothing of the thread stays.
void Block::add_thread() {
  Thread& thread = threads_.emplace_back();
  thread.block = this;
  try {
    thread.fiber = take_fiber();
    thread.fiber->set_body(thread_main, &thread);
  } catch (...) {
    threads_.pop_back();
    throw;
  }
}

Fiber* Block::thread_main(void* argument) {
  auto& thread = *static_cast<Thread*>(argument);
  Block& block = *thread.block;
  try {
    block.launch_->body(block.launch_->params);
  } catch (const Stopped&) {
  } catch (...) {
    block.error_ = std::current_exception();
  }
  thread.status = Status::finished;
  const auto index = static_cast<unsigned>(&thread - block.threads_.data());
  block.set_not_ready(index);
  if (block.stopping() || !block.in_order_) return nullptr;
  const size_t next = block.next_in_order(index);
  if (next == none) return nullptr;
  running.thread = static_cast<int>(next);
  return block.threads_[next].fiber.get();
}

size_t Block::next_in_order(unsigned after) const {
  unsigned warp = after / 32;
  const uint32_t behind = ready_[warp] & (~1U << after % 32);
  if (behind != 0) return warp * 32 + static_cast<unsigned>(__builtin_ctz(behind));
  for (; warp < ready_.size(); ++warp) {
    if (ready_[warp] != 0) return warp * 32 + static_cast<unsigned>(__builtin_ctz(ready_[warp]));
  }
  return none;
}

// Control comes back where no thread behind the one that ran last can go on, or a fault was found.
[[gnu::flatten]] void Block::run_ready_in_order() {
  size_t next = (ready_[0] & 1) != 0 ? 0 : next_in_order(0);
  while (next != none) {
    resume(static_cast<unsigned>(next));
    if (stopping()) return;
    next = next_in_order(static_cast<unsigned>(running.thread));
  }
}

void Block::run_ready_shuffled(uint64_t order) {
  RandomOrder random(order ^ (uint64_t{run_} << 32) ^ barrier_time_);
  std::vector<unsigned> turn(count_);
  std::iota(turn.begin(), turn.end(), 0U);
  bool some_ran = true;
  while (some_ran) {
    some_ran = false;
    random.shuffle(turn);
    for (const unsigned i : turn) {
      if (threads_[i].status > Status::ready) continue;
      some_ran = true;
      resume(i);
      if (stopping()) return;
    }
  }
}

bool Block::all_are(Status status) const {
  return std::all_of(threads_.begin(), threads_.begin() + count_,
                     [status](const Thread& thread) { return thread.status == status; });
}

void Block::open_barrier() {
  uint32_t latest = 0;
  for (unsigned i = 0; i < count_; ++i) latest = std::max(latest, threads_[i].time);
  barrier_time_ = latest + 1;
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].time = barrier_time_;
    threads_[i].status = Status::ready;
    set_ready(i);
  }
}

// Every thread that began leaves its body, so that its fiber can begin another.
void Block::stop_rest() {
  for (unsigned i = 0; i < count_; ++i) {
    if (threads_[i].status != Status::finished && threads_[i].status != Status::fresh) resume(i);
    threads_[i].status = Status::finished;
  }
}

// Called when no thread can go on: why the block cannot, or nothing where its barrier opens.
std::optional<Fault> Block::divergence() const {
  unsigned at_barrier = count_;
  unsigned absent = count_;
  for (unsigned i = 0; i < count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.status == Status::in_warp_call) return diverged_warp_call(i);
    if (thread.status == Status::at_barrier && at_barrier == count_) at_barrier = i;
    if (thread.status == Status::finished && absent == count_) absent = i;
  }
  if (absent < count_) return diverged_barrier(at_barrier, absent);
  for (unsigned i = at_barrier; i < count_; ++i) {
    if (!(threads_[i].site == threads_[at_barrier].site)) {
      return diverged_barrier(at_barrier, i);
    }
  }
  return std::nullopt;
}

Fault Block::diverged_barrier(unsigned waiting, unsigned absent) const {
  const bool finished = threads_[absent].status == Status::finished;
  Fault found = fault(FaultKind::divergent_barrier, place_of(waiting),
                      "thread " + std::to_string(absent) + " of the block " +
                          (finished ? "has finished" : "waits at another barrier"));
  found.other = place_of(absent);
  return found;
}

Fault Block::diverged_warp_call(unsigned waiting) const {
  const Thread& thread = threads_[waiting];
  const unsigned first = waiting / 32 * 32;
  unsigned absent = first;
  while ((thread.mask >> (absent - first) & 1) == 0 || arrived_alike(threads_[absent], thread)) {
    ++absent;
  }
  const Thread& other = threads_[absent];
  const char* const where = other.status == Status::finished     ? "has finished"
                            : other.status == Status::at_barrier ? "waits at a barrier"
                                                                 : "is in another warp operation";
  Fault found = fault(FaultKind::divergent_warp, place_of(waiting),
                      "lane " + std::to_string(absent - first) + " of its mask " + where);
  found.other = place_of(absent);
  return found;
}

Place Block::place_of(unsigned thread) const {
  const bool waits = threads_[thread].status != Status::finished;
  return {block_, block_y_, thread, waits ? threads_[thread].site : Site{}};
}

Fault Block::fault(FaultKind kind, Place place, std::string detail) const {
  return {kind, std::string(launch_->kernel), place, std::nullopt, std::move(detail)};
}

void Block::fail(FaultKind kind, Site site, std::string detail, std::optional<Place> other) {
  const Place place{block_, block_y_, static_cast<unsigned>(running.thread), site};
  fault_ = fault(kind, place, std::move(detail));
  fault_->other = other;
  throw Stopped{};
}

}  // namespace gdn::simt
