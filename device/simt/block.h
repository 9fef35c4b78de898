// One block at a time: its threads as fibers, its barrier, its warps, its shared memory, and the
// checks of what its threads access.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/kernels/launch_shape.h"
#include "device/simt/fault.h"
#include "device/simt/fiber.h"
#include "device/simt/memory.h"
#include "device/simt/options.h"
#include "device/simt/running.h"
#include "device/simt/shared_memory.h"

namespace gdn::simt {

struct Launch {
  std::string_view kernel;
  void (*body)(const void* params) = nullptr;
  const void* params = nullptr;
  LaunchShape shape;
  uint32_t first_run = 1;  // the run of block (0, 0); they are numbered along x, then y
};

class Block {
 public:
  Block(const Options& options, Memory& memory);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Block `index` of the launch, numbered along x, then y. `order` shuffles threads, if not 0.
  std::optional<Fault> run(const Launch& launch, unsigned index, uint64_t order);

  // Before runs are numbered from 1 again.
  void forget_accesses() {
    if (options_.checks) shared_.shadow().forget_accesses();
  }

  // Called by its threads.
  void access(const void* address, unsigned bytes, Access access, Space space, Site site);
  void barrier(Site site) { wait(Status::at_barrier, site); }
  uint64_t warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site);
  void* shared_array(const void* key, size_t bytes, Site site);
  void* dynamic_shared_bytes() { return shared_.dynamic(); }

 private:
  enum class Status : uint8_t { fresh, ready, at_barrier, in_warp_call, finished };
  // What a switch touches comes first, in one line of a cache.
  struct alignas(64) Thread {
    Block* block = nullptr;
    std::unique_ptr<Fiber> fiber;
    Status status = Status::finished;
    Site site;  // of the barrier or warp call where it waits
    WarpCall call = WarpCall::sync;
    uint32_t mask = 0;
    uint64_t value = 0;  // what it brings to the call, then what it takes from it
    int argument = 0;
    // Clocks: see docs/simulator.md. known[l] is the latest time of lane l that comes before now.
    uint32_t time = 1;
    std::array<uint32_t, 32> known{};
  };
  struct Stopped {};  // leaves a thread's body

  void begin(const Launch& launch, unsigned index);
  void add_thread();
  static Fiber* thread_main(void* thread);
  void resume(unsigned thread) {
    running.thread = static_cast<int>(thread);
    threads_[thread].fiber->resume();
  }
  void run_ready_in_order();
  // Of the threads that can go on, in order: the next of its warp, which begins anew after its last
  // one as long as any of it can; else of the next warp that has one.
  static constexpr size_t none = SIZE_MAX;
  size_t next_in_order(unsigned after) const;
  void set_ready(unsigned thread) { ready_[thread / 32] |= 1U << thread % 32; }
  void set_not_ready(unsigned thread) { ready_[thread / 32] &= ~(1U << thread % 32); }
  void run_ready_shuffled(uint64_t order);
  bool all_are(Status status) const;
  bool stopping() const { return fault_.has_value() || error_ != nullptr; }
  void open_barrier();
  void stop_rest();
  std::optional<Fault> divergence() const;
  Fault diverged_barrier(unsigned waiting, unsigned absent) const;
  Fault diverged_warp_call(unsigned waiting) const;

  void wait(Status status, Site site) {
    Thread& thread = threads_[static_cast<unsigned>(running.thread)];
    thread.status = status;
    thread.site = site;
    const auto index = static_cast<unsigned>(running.thread);
    set_not_ready(index);
    const size_t next = in_order_ ? next_in_order(index) : none;
    if (next != none) {
      running.thread = static_cast<int>(next);
      thread.fiber->pause_for(*threads_[next].fiber);
    } else {
      thread.fiber->pause();
    }
    if (stopping()) throw Stopped{};
  }
  bool arrived_alike(const Thread& one, const Thread& two) const;
  void complete_warp_call(unsigned warp, uint32_t mask);
  static uint64_t votes(const Thread* lanes, uint32_t mask);
  uint64_t shuffled(unsigned warp, int lane);
  void join_clocks(unsigned warp, uint32_t mask);

  bool ordered(const Record& earlier, Space space) const;
  struct Target {
    Shadow* shadow;
    size_t offset;
  };
  Target global_target(const void* address, unsigned bytes, Site site);
  Target shared_target(const void* address, unsigned bytes, Site site);
  std::string target_text(const void* address, Space space);
  Record record(Access access, Site site);
  unsigned file_index(const char* file);
  Place place_of(const Record& earlier) const;
  Place place_of(unsigned thread) const;
  Fault fault(FaultKind kind, Place place, std::string detail) const;
  [[noreturn]] void fail(FaultKind kind, Site site, std::string detail,
                         std::optional<Place> other = std::nullopt);

  const Options& options_;
  Memory& memory_;
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::array<uint32_t, 32> waiting_lanes_{};  // of each warp: those in a warp call
  std::array<uint32_t, 32> ready_{};          // of each warp: those that can go on
  bool in_order_ = true;                      // each thread hands over to the next itself
  std::vector<const char*> files_;
  const char* last_file_ = nullptr;
  unsigned last_file_index_ = 0;

  const Launch* launch_ = nullptr;
  unsigned count_ = 0;  // threads of this block
  unsigned block_ = 0, block_y_ = 0;
  uint32_t run_ = 0;
  uint32_t barrier_time_ = 1;  // what has an earlier time comes before the last barrier
  std::optional<Fault> fault_;
  std::exception_ptr error_;
};

// The block whose threads this operating system thread is executing.
extern thread_local constinit Block* running_block GDN_FIXED_PLACE;

}  // namespace gdn::simt
