// The simulated thread that this operating system thread is executing, and what a kernel asks of
// the simulator. Kernels reach it through platform.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/simt/fiber.h"
#include "device/simt/shadow.h"
#include "device/simt/site.h"

namespace gdn::simt {

// A place that one instruction reaches, also from a shared library. Of such places there are few: a
// library that is one among many of its kind, all loaded at once, is built to do without.
#ifdef GDN_LOADED_AMONG_MANY
#define GDN_FIXED_PLACE
#else
#define GDN_FIXED_PLACE __attribute__((tls_model("initial-exec")))
#endif

struct Running {
  bool checks = false;
  int thread = 0;
  int threads = 1;
  int block = 0;
  int block_y = 0;
  int blocks = 1;
  int blocks_y = 1;
  bool by_steps = false;  // all threads of the block take a step before any takes the next
};
constexpr int no_thread = -1;  // between two steps

#if defined(__x86_64__)
[[gnu::visibility("hidden")]] inline const bool has_fma = __builtin_cpu_supports("fma") != 0;
#endif

// Every access asks `checks`.
extern thread_local constinit Running running GDN_FIXED_PLACE;

enum class Space : uint8_t { global, shared };

// Of 32 floats, which it spoils: neighbours first, then pairs of pairs.
inline float tree_sum(float* terms) {
  for (size_t count = 16; count > 0; count /= 2) {
    for (size_t i = 0; i < count; ++i) terms[i] = terms[2 * i] + terms[2 * i + 1];
  }
  return terms[0];
}

// Each stops the launch by an exception of the simulator's own where it finds a fault.
void check_access(const void* address, unsigned bytes, Access access, Space space, Site site);
// A read of global memory past what the multiprocessor itself has cached.
void check_coherent_read(const void* address, unsigned bytes, Site site);

// What a thread does where it must wait: `self` pauses for `next`, or, if that is nullptr, for the
// scheduler. Where `self` is nullptr it need not wait.
struct Turn {
  Fiber* self = nullptr;
  Fiber* next = nullptr;
};

// A barrier or a warp operation is a call that arrives, the turn that it asks for, and a call that
// goes on. The switch of stacks stands between them, in the kernel's own code: no call is left on
// one stack while its return is made on another.
Turn arrive_at_barrier(Site site);
void go_on_from_barrier();

enum class WarpCall : uint8_t {
  sync,
  shuffle,
  shuffle_xor,
  shuffle_down,
  shuffle_up,
  ballot,
  tree_sum,
  matrix_product,
};
// value is what the lane brings, argument its source, distance or lane bits. Of a matrix product
// value is the address of the lane's MatrixLane.
Turn arrive_at_warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site);
uint64_t go_on_from_warp_call();  // what the lane takes

// Of a block by steps: room for what its threads keep; before a step, the order of its threads, or
// nullptr where that is the rising one; and between two steps a barrier, or in place of what a
// warp's lanes keep its sum.
void* room_of_steps(size_t bytes);
const unsigned* order_of_step();
void open_barrier_of_steps(Site site);
void tree_sums_of_steps(float* terms, Site site);

[[gnu::always_inline]] inline void take(const Turn& turn) {
  if (turn.self == nullptr) return;
  if (turn.next != nullptr) {
    turn.self->pause_for(*turn.next);
  } else {
    turn.self->pause();
  }
}

// Signed bytes of the operands [16][32] and [32][8], and what the lane takes of their product;
// which is which: see matrix_product_s8 in platform_cuda.h.
struct MatrixLane {
  int8_t left[4][4];
  int8_t right[2][4];
  int32_t sums[4];
};

// Copies by the calling thread from global to shared memory: see copy_async in platform_cuda.h.
void copy_async(void* to, const void* from, unsigned bytes, Site site);
void close_copies();
void wait_for_copies(int sets, Site site);
void wait_for_launches_before();

void* shared_array(const void* key, size_t bytes, Site site);
void* dynamic_shared_bytes();

}  // namespace gdn::simt
