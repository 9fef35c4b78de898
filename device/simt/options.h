// How a simulated machine behaves. All of it is fixed for the machine's life.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdn::simt {

struct Options {
  // Checks of every access: bounds, alignment, races, reads of what nobody wrote. Without them an
  // access is a plain one; barriers, warp operations and launch shapes are checked either way.
  bool checks = true;
  // 0: blocks and threads in rising order. Else in an order drawn from this seed, to show what
  // depends on it.
  uint64_t order_seed = 0;
  // Written over fresh memory, global and shared; as a float it is a NaN.
  uint32_t poison = 0xffffffffU;
  // Larger allocations start as zeros, in pages that exist once touched. Checks do not depend on
  // the poison.
  size_t poison_bytes_max = size_t{1} << 30;
  // Of one block: what the smaller of sm_90 (227 KiB) and sm_120 (99 KiB) grants.
  unsigned shared_bytes_max = 99 * 1024;
};

}  // namespace gdn::simt
