// One block at a time: its threads as fibers, its barrier, its warps, its shared memory, and the
// checks of what its threads access.
#pragma once

#include <array>
#include <cstddef>
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
  bool by_steps = false;   // body runs once a block
  uint32_t first_run = 1;  // the run of block (0, 0); they are numbered along x, then y
  // Of the launches since the host last waited, and of those among them that this one may overlap.
  uint32_t first_queued_run = 1;
  uint32_t first_overlapped_run = 1;
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
  void access(const void* address, unsigned bytes, Access access, Space space, Site site,
              bool coherent = false);
  Turn arrive_at_barrier(Site site);
  Turn arrive_at_warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site);
  // What the running thread takes, or out of its body where the block has come to an end.
  uint64_t go_on() const {
    if (stopping_) throw Stopped{};
    const auto index = static_cast<unsigned>(running.thread);
    return warps_[index / 32].value[index % 32];
  }
  void copy_async(void* to, const void* from, unsigned bytes, Site site);
  void close_copies();
  void wait_for_copies(int sets, Site site);
  void wait_for_launches_before();
  void* shared_array(const void* key, size_t bytes, Site site);
  void* dynamic_shared_bytes() { return shared_.dynamic(); }
  void* room_of_steps(size_t bytes);
  const unsigned* order_of_step();
  void open_barrier_of_steps(Site site);
  void tree_sums_of_steps(float* terms, Site site);

 private:
  enum class Status : uint8_t { fresh, ready, at_barrier, in_warp_call, finished };
  struct Copy {
    void* to;
    const void* from;
    unsigned bytes;
    int set;  // in how many sets that thread had closed its copies before
  };
  struct alignas(64) Thread {
    std::unique_ptr<Fiber> fiber;  // on whose stack it is, or may begin
    Site site;                     // of the barrier or warp call where it waits
    WarpCall call = WarpCall::sync;
    uint32_t mask = 0;
    int argument = 0;
    // Clocks: see docs/simulator.md. known[l] is the latest time of lane l that comes before now.
    uint32_t time = 1;
    std::array<uint32_t, 32> known{};
    bool waited = false;       // for the launch before
    std::vector<Copy> copies;  // under way, in the order in which they were asked for
    int sets = 0;              // closed
  };
  // Where its threads are, a bit for each lane, and what goes between them: all that most switches
  // touch, so that they take few lines of a cache.
  struct Warp {
    uint32_t lanes = 0;    // that it has
    uint32_t ready = 0;    // can go on, or begin
    uint32_t fresh = 0;    // have not begun
    uint32_t in_call = 0;  // wait in a warp call
    uint32_t at_barrier = 0;
    uint32_t finished = 0;
    // The warp call of the first lane that waits in one, and whether all who do came with the same.
    WarpCall call = WarpCall::sync;
    bool is_alike = true;
    bool is_one_argument = true;
    uint32_t mask = 0;
    int argument = 0;
    Site site;
    std::array<uint64_t, 32> value{};  // what a lane brings to the call, then what it takes from it
  };
  struct Stopped {};  // leaves a thread's body

  void begin(const Launch& launch, unsigned index);
  void add_thread();
  static std::vector<std::vector<Thread>>& kept_threads();
  static Fiber* thread_main();
  void run_body(Warp& warp, uint32_t bit);
  void resume(unsigned thread) {
    running.thread = static_cast<int>(thread);
    threads_[thread].fiber->resume();
  }
  void run_by_steps();
  void run_threads();
  void run_ready_in_order();
  // Of the threads that can go on, in order: the next of its warp, which begins anew after its last
  // one as long as any of it can; else of the next warp that has one.
  static constexpr size_t none = SIZE_MAX;
  size_t next_in_order(unsigned after) const {
    unsigned warp = after / 32;
    uint32_t ready = warps_[warp].ready & (~1U << after % 32);
    if (ready == 0) ready = warps_[warp].ready;
    while (ready == 0) {
      if (++warp >= warp_count_) return none;
      ready = warps_[warp].ready;
    }
    return warp * 32 + static_cast<unsigned>(__builtin_ctz(ready));
  }
  void run_ready_shuffled();
  Status status_of(unsigned thread) const;
  void open_barrier();
  void advance_clocks();
  void stop_rest();
  std::optional<Fault> divergence() const;
  Fault diverged_barrier(unsigned waiting, unsigned absent) const;
  Fault diverged_warp_call(unsigned waiting) const;

  // The running thread waits: its lane is not ready any more.
  Turn turn_of(Thread& thread, unsigned index) const {
    const size_t next = in_order_ ? next_in_order(index) : none;
    if (next == none) return {thread.fiber.get(), nullptr};
    running.thread = static_cast<int>(next);
    return {thread.fiber.get(), threads_[next].fiber.get()};
  }
  [[noreturn, gnu::cold]] void fail_in_step(Site site, const char* what);
  [[noreturn, gnu::cold]] void fail_for_mask(uint32_t mask, uint32_t caller, uint32_t lanes,
                                             Site site);
  bool arrived_alike(unsigned one, unsigned two) const;
  bool has_arrived(unsigned warp, unsigned index) const;
  void complete_warp_call(unsigned warp, uint32_t mask);
  static uint64_t votes(const Warp& warp, uint32_t mask);
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
  std::array<Warp, 32> warps_;
  unsigned warp_count_ = 0;
  uint64_t order_ = 0;    // draws the order of threads
  bool in_order_ = true;  // each thread hands over to the next itself
  // Of those that wait at the barrier: the first one's place, and whether all wait there.
  unsigned barrier_count_ = 0;
  Site barrier_site_;
  bool barrier_is_alike_ = true;
  unsigned finished_count_ = 0;
  bool some_waited_ = false;  // for the launch before
  // Of a block by steps.
  std::vector<std::max_align_t> room_of_steps_;
  std::vector<unsigned> turn_;
  uint64_t step_ = 0;
  std::vector<const char*> files_;
  const char* last_file_ = nullptr;
  unsigned last_file_index_ = 0;

  const Launch* launch_ = nullptr;
  unsigned count_ = 0;  // threads of this block
  unsigned block_ = 0, block_y_ = 0;
  uint32_t run_ = 0;
  uint32_t barrier_time_ = 1;  // what has an earlier time comes before the last barrier
  bool stopping_ = false;      // there is a fault or an error
  std::optional<Fault> fault_;
  std::exception_ptr error_;
};

// The block whose threads this operating system thread is executing.
extern thread_local constinit Block* running_block GDN_FIXED_PLACE;

}  // namespace gdn::simt
