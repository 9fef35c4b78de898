// How the work is cut: which units (a sequence and a v-head) a core has, and how many values are a
// tile.
#pragma once

#include <cstdint>
#include <vector>

#include "device/ascend_sim/core.h"
#include "device/gdn.h"

namespace gdn::ascend {

// Rows are padded to this many numbers in local memory, and tiles are a multiple of it.
inline constexpr int64_t lane_block = 16;
inline int64_t padded(int64_t count) { return (count + lane_block - 1) / lane_block * lane_block; }

inline constexpr int64_t local_bytes_max = 196608;  // 192 KiB
inline constexpr int64_t heads_max = 256;
inline constexpr int64_t head_dim_max = 512;

// How the operator is run. 0: what fits.
struct Plan {
  int64_t v_step = 0;
  int64_t depth = 0;  // of the queues of results: 1 copies now, 2 a token later
  int64_t cores = 4;
  int64_t sequence_tokens_max = 16;
  Schedule schedule = {};
  uint32_t poison = 0xFFFFFFFFU;  // a NaN in every format
};

struct Dimensions {
  int64_t k_heads = 0, v_heads = 0, kd = 0, vd = 0;
  gdn_format input = GDN_BF16, beta = GDN_BF16, output = GDN_BF16, state = GDN_BF16;
};

// Local memory, in bytes.
int64_t local_bytes(const Dimensions& d, const Plan& plan);
// v_step and depth chosen where they are 0: the fewest tiles, then the deeper queues, then tiles of
// equal size. False where nothing fits.
bool choose(const Dimensions& d, Plan* plan);

struct Unit {
  int64_t sequence = 0, head = 0;
  int64_t first_token = 0, tokens = 0;
};
// Why a core stopped: what it had left was not done.
struct Abandoned {
  int64_t core = 0, sequence = 0;
  const char* why = "";
};
struct Cut {
  std::vector<std::vector<Unit>> of_core;
  std::vector<Abandoned> abandoned;
};
struct Sequences {
  int64_t tokens = 0;  // T, of all
  int64_t start = 0;   // the first token of the first sequence
  std::vector<int32_t> lengths;
  std::vector<int32_t> accepted;  // empty: none is given
};
// Consecutive units until a core has its share of tokens. A length or an accepted count that is
// not allowed ends the core that meets it: the length every core that has not ended before, the
// count those with a head of that sequence.
Cut cut(const Sequences& sequences, int64_t v_heads, const Plan& plan);

}  // namespace gdn::ascend
