// The simulated thread that this operating system thread is executing, and what a kernel asks of
// the simulator. Kernels reach it through platform.h.
#pragma once

#include <cstddef>
#include <cstdint>

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
};

// Every access asks `checks`.
extern thread_local constinit Running running GDN_FIXED_PLACE;

enum class Space : uint8_t { global, shared };

// Each stops the launch by an exception of the simulator's own where it finds a fault.
void check_access(const void* address, unsigned bytes, Access access, Space space, Site site);
void block_barrier(Site site);

enum class WarpCall : uint8_t {
  sync,
  shuffle,
  shuffle_xor,
  shuffle_down,
  shuffle_up,
  ballot,
  matrix_product,
};
// value is what the lane brings, argument its source, distance or lane bits. Of a matrix product
// value is the address of the lane's MatrixLane.
uint64_t warp_call(WarpCall call, uint32_t mask, uint64_t value, int argument, Site site);

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
