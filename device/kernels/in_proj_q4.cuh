// All that a layer's projections read of h, in one launch: qkv and z in 4-bit tiles, b and a in
// float32. A block takes units of one of the four; what it computes is gemv_q4's or gemv_f32's.
#pragma once

#include <cstdint>

#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// All four have one x and as many columns, a multiple of 32.
struct InProjQ4 {
  GemvQ4 qkv, z;
  GemvF32 b, a;
  int32_t qkv_blocks, z_blocks;  // the first of the launch; the rest has b and a
};

struct InProjQ4Blocks {
  int64_t qkv, z, rest;
};

// As many units for each block of qkv and z as lets all blocks, with one more at least for b and a,
// be on the GPU at once.
inline InProjQ4Blocks in_proj_q4_blocks(int64_t qkv_rows, int64_t z_rows) {
  const int64_t qkv = q4_units(qkv_rows);
  const int64_t z = q4_units(z_rows);
  constexpr int64_t blocks_for_tiles = q4_blocks_at_once - 1;
  int64_t each = (qkv + z + blocks_for_tiles - 1) / blocks_for_tiles;
  const auto blocks = [&](int64_t units) { return (units + each - 1) / each; };
  while (blocks(qkv) + blocks(z) > blocks_for_tiles) ++each;
  const int64_t of_tiles = blocks(qkv) + blocks(z);
  const int64_t left = q4_blocks_at_once - of_tiles;
  return {blocks(qkv), blocks(z), left > 1 ? left : 1};
}

// A pair of warps at least, as gemv_f32 has two a row.
inline LaunchShape in_proj_q4_shape(const InProjQ4Blocks& blocks, int64_t cols) {
  const Q4Columns columns = q4_columns(cols);
  const int warps = (columns.warps + gemv_warps_a_row - 1) / gemv_warps_a_row * gemv_warps_a_row;
  return {.blocks = static_cast<unsigned>(blocks.qkv + blocks.z + blocks.rest),
          .threads = static_cast<unsigned>(warps * warp_size),
          .shared_bytes = q4_shared_bytes(columns)};
}

// Some rows of b or of a at a time, shared out among so many blocks.
GDN_DEVICE void in_proj_q4_rest(const InProjQ4& p, int block, int blocks) {
  const int rows_a_block = thread_count() / gemv_threads_a_row;
  const int64_t groups_of_b = (p.b.rows + rows_a_block - 1) / rows_a_block;
  const int64_t groups = groups_of_b + (p.a.rows + rows_a_block - 1) / rows_a_block;
  for (int64_t group = block; group < groups; group += blocks) {
    const bool is_b = group < groups_of_b;
    gemv_f32_rows(is_b ? p.b : p.a, (is_b ? group : group - groups_of_b) * rows_a_block);
    barrier();  // the next rows are added up where these are
  }
}

GDN_KERNEL void in_proj_q4(const InProjQ4& p) {
  const int block = block_index();
  const int of_tiles = p.qkv_blocks + p.z_blocks;
  if (block >= of_tiles) {
    wait_for_launches_before();
    return in_proj_q4_rest(p, block - of_tiles, block_count() - of_tiles);
  }
  const bool is_qkv = block < p.qkv_blocks;
  gemv_q4_block(is_qkv ? p.qkv : p.z, is_qkv ? block : block - p.qkv_blocks,
                is_qkv ? p.qkv_blocks : p.z_blocks);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<kernels::in_proj_q4> = block_threads_max<kernels::gemv_q4>;
template <>
inline constexpr bool begins_early<kernels::in_proj_q4> = true;

}  // namespace gdn::inline GDN_MACHINE
