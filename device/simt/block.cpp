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
// Two machines that take turns, and one beside them.
constexpr size_t kept_max = 3;

}  // namespace

Turn arrive_at_barrier(Site site) { return running_block->arrive_at_barrier(site); }
void go_on_from_barrier() { running_block->go_on(); }

Block::Block(const Options& options, Memory& memory)
    : options_(options), memory_(memory), shared_(options) {
  std::vector<std::vector<Thread>>& kept = kept_threads();
  if (kept.empty()) {
    threads_.reserve(threads_max);
  } else {
    threads_ = std::move(kept.back());
    kept.pop_back();
  }
}

Block::~Block() {
  if (kept_threads().size() < kept_max) kept_threads().push_back(std::move(threads_));
}

// A stack costs three calls of the system, and a fault for each of its pages: those of blocks that
// are gone are kept for the next one on this operating system thread.
std::vector<std::vector<Block::Thread>>& Block::kept_threads() {
  static thread_local std::vector<std::vector<Thread>> kept;
  return kept;
}

std::optional<Fault> Block::run(const Launch& launch, unsigned index, uint64_t order) {
  order_ = order;
  in_order_ = order == 0;
  begin(launch, index);
  if (launch.by_steps) {
    run_by_steps();
  } else {
    run_threads();
  }
  if (options_.checks && !some_waited_ && !fault_ && error_ == nullptr) {
    fault_ = fault(FaultKind::early_access, {block_, block_y_, 0, {}},
                   "the block has ended without waiting for the launch before, so the next one may "
                   "overlap that too");
  }
  stopping_ = false;
  running = {};
  running_block = nullptr;
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::exchange(fault_, std::nullopt);
}

void Block::run_threads() {
  while (true) {
    if (in_order_) {
      run_ready_in_order();
    } else {
      run_ready_shuffled();
    }
    if (stopping_ || finished_count_ == count_) break;
    fault_ = divergence();
    stopping_ = fault_.has_value();
    if (stopping_) break;
    open_barrier();
  }
  if (stopping_) stop_rest();
}

void Block::begin(const Launch& launch, unsigned index) {
  launch_ = &launch;
  count_ = launch.shape.threads;
  block_ = index % launch.shape.blocks;
  block_y_ = index / launch.shape.blocks;
  run_ = launch.first_run + index;
  barrier_time_ = 1;
  barrier_count_ = 0;
  finished_count_ = 0;
  some_waited_ = false;
  warp_count_ = (count_ + 31) / 32;
  for (unsigned i = 0; i < warp_count_; ++i) {
    Warp& warp = warps_[i];
    const unsigned lanes = std::min(count_ - i * 32, 32U);
    warp.lanes = warp.ready = warp.fresh = lanes == 32 ? ~0U : (1U << lanes) - 1;
    warp.in_call = warp.at_barrier = warp.finished = 0;
  }
  while (threads_.size() < count_ && (!launch.by_steps || options_.checks)) add_thread();
  for (unsigned i = 0; i < count_ && options_.checks; ++i) {
    threads_[i].time = 1;
    threads_[i].known.fill(0);
    threads_[i].waited = false;
    threads_[i].copies.clear();
    threads_[i].sets = 0;
  }
  shared_.begin_block(launch.shape.shared_bytes);
  running_block = this;
  running.checks = options_.checks;
  running.threads = static_cast<int>(count_);
  running.block = static_cast<int>(block_);
  running.block_y = static_cast<int>(block_y_);
  running.blocks = static_cast<int>(launch.shape.blocks);
  running.blocks_y = static_cast<int>(launch.shape.blocks_y);
  running.by_steps = launch.by_steps;
}

// Where there is no memory for its stack, nothing of the thread stays.
void Block::add_thread() {
  Thread& thread = threads_.emplace_back();
  try {
    thread.fiber = std::make_unique<Fiber>(thread_main);
  } catch (...) {
    threads_.pop_back();
    throw;
  }
}

// The running thread's body, and after it those of threads that are next and have not begun: they
// take over the stack, so that one which never waits costs no switch.
Fiber* Block::thread_main() {
  Block& block = *running_block;
  while (true) {
    const auto index = static_cast<unsigned>(running.thread);
    block.run_body(block.warps_[index / 32], 1U << index % 32);
    if (block.stopping_ || !block.in_order_) return nullptr;
    const size_t next = block.next_in_order(index);
    if (next == none) return nullptr;
    running.thread = static_cast<int>(next);
    std::unique_ptr<Fiber>& of_next = block.threads_[next].fiber;
    if ((block.warps_[next / 32].fresh >> next % 32 & 1) == 0) return of_next.get();
    std::swap(block.threads_[index].fiber, of_next);
  }
}

void Block::run_body(Warp& warp, uint32_t bit) {
  warp.fresh &= ~bit;
  try {
    launch_->body(launch_->params);
  } catch (const Stopped&) {
  } catch (...) {
    error_ = std::current_exception();
    stopping_ = true;
  }
  warp.finished |= bit;
  warp.ready &= ~bit;
  ++finished_count_;
}

Block::Status Block::status_of(unsigned thread) const {
  const Warp& warp = warps_[thread / 32];
  const auto is_in = [thread](uint32_t lanes) { return (lanes >> thread % 32 & 1) != 0; };
  return is_in(warp.finished)     ? Status::finished
         : is_in(warp.at_barrier) ? Status::at_barrier
         : is_in(warp.in_call)    ? Status::in_warp_call
         : is_in(warp.fresh)      ? Status::fresh
                                  : Status::ready;
}

// Control comes back where no thread behind the one that ran last can go on, or a fault was found.
[[gnu::flatten]] void Block::run_ready_in_order() {
  size_t next = (warps_[0].ready & 1) != 0 ? 0 : next_in_order(0);
  while (next != none) {
    resume(static_cast<unsigned>(next));
    if (stopping_) return;
    next = next_in_order(static_cast<unsigned>(running.thread));
  }
}

void Block::run_ready_shuffled() {
  RandomOrder random(order_ ^ (uint64_t{run_} << 32) ^ barrier_time_);
  std::vector<unsigned> turn(count_);
  std::iota(turn.begin(), turn.end(), 0U);
  bool some_ran = true;
  while (some_ran) {
    some_ran = false;
    random.shuffle(turn);
    for (const unsigned i : turn) {
      if ((warps_[i / 32].ready >> i % 32 & 1) == 0) continue;
      some_ran = true;
      resume(i);
      if (stopping_) return;
    }
  }
}

Turn Block::arrive_at_barrier(Site site) {
  if (launch_->by_steps) [[unlikely]] {
    fail_in_step(site, "a barrier");
  }
  const auto index = static_cast<unsigned>(running.thread);
  Warp& warp = warps_[index / 32];
  const uint32_t bit = 1U << index % 32;
  warp.at_barrier |= bit;
  warp.ready &= ~bit;
  Thread& mine = threads_[index];
  mine.site = site;
  if (barrier_count_++ == 0) {
    barrier_site_ = site;
    barrier_is_alike_ = true;
  } else {
    barrier_is_alike_ &= site == barrier_site_;
  }
  return turn_of(mine, index);
}

void Block::open_barrier() {
  barrier_count_ = 0;
  for (unsigned i = 0; i < warp_count_; ++i) {
    warps_[i].ready = warps_[i].at_barrier;
    warps_[i].at_barrier = 0;
  }
  advance_clocks();
}

// What any thread did before, comes before what each does from here on.
void Block::advance_clocks() {
  uint32_t latest = barrier_time_;
  const unsigned clocks = options_.checks ? count_ : 0;
  for (unsigned i = 0; i < clocks; ++i) latest = std::max(latest, threads_[i].time);
  barrier_time_ = latest + 1;
  for (unsigned i = 0; i < clocks; ++i) threads_[i].time = barrier_time_;
}

// Every thread that began leaves its body, so that its fiber can begin another.
void Block::stop_rest() {
  for (unsigned i = 0; i < count_; ++i) {
    const Status status = status_of(i);
    if (status != Status::finished && status != Status::fresh) resume(i);
  }
}

// Called when no thread can go on: why the block cannot, or nothing where its barrier opens.
std::optional<Fault> Block::divergence() const {
  if (barrier_count_ == count_ && barrier_is_alike_) return std::nullopt;
  unsigned at_barrier = count_;
  unsigned absent = count_;
  for (unsigned i = 0; i < count_; ++i) {
    const Status status = status_of(i);
    if (status == Status::in_warp_call) return diverged_warp_call(i);
    if (status == Status::at_barrier && at_barrier == count_) at_barrier = i;
    if (status == Status::finished && absent == count_) absent = i;
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
  const bool finished = status_of(absent) == Status::finished;
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
  while ((thread.mask >> (absent - first) & 1) == 0 || arrived_alike(absent, waiting)) {
    ++absent;
  }
  const Status other = status_of(absent);
  const char* const where = other == Status::finished     ? "has finished"
                            : other == Status::at_barrier ? "waits at a barrier"
                                                          : "is in another warp operation";
  Fault found = fault(FaultKind::divergent_warp, place_of(waiting),
                      "lane " + std::to_string(absent - first) + " of its mask " + where);
  found.other = place_of(absent);
  return found;
}

Place Block::place_of(unsigned thread) const {
  const bool waits = status_of(thread) != Status::finished;
  return {block_, block_y_, thread, waits ? threads_[thread].site : Site{}};
}

Fault Block::fault(FaultKind kind, Place place, std::string detail) const {
  return {kind, std::string(launch_->kernel), place, std::nullopt, std::move(detail)};
}

void Block::fail(FaultKind kind, Site site, std::string detail, std::optional<Place> other) {
  const Place place{block_, block_y_, static_cast<unsigned>(running.thread), site};
  fault_ = fault(kind, place, std::move(detail));
  fault_->other = other;
  stopping_ = true;
  throw Stopped{};
}

}  // namespace gdn::simt
