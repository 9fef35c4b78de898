// The large projections of h, qkv and z in 4-bit tiles, in one launch. A block takes units of one
// of the two; what it computes is gemv_q4's.
#pragma once

#include <cstdint>

#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// Both have one x and as many columns, and are such as the kernel gemv_q4 takes.
struct InProjQ4 {
  GemvQ4 qkv, z;
  int32_t qkv_blocks;  // the first of the launch
};

struct InProjQ4Blocks {
  int64_t qkv, z;
};

// As many units for each block as lets all be on the GPU at once.
inline InProjQ4Blocks in_proj_q4_blocks(int64_t qkv_rows, int64_t z_rows) {
  const int64_t qkv = q4_units(qkv_rows);
  const int64_t z = q4_units(z_rows);
  int64_t each = (qkv + z + q4_blocks_at_once - 1) / q4_blocks_at_once;
  const auto blocks = [&](int64_t units) { return (units + each - 1) / each; };
  while (blocks(qkv) + blocks(z) > q4_blocks_at_once) ++each;
  return {blocks(qkv), blocks(z)};
}

inline LaunchShape in_proj_q4_shape(const InProjQ4Blocks& blocks, int64_t cols) {
  LaunchShape shape = gemv_q4_shape(q4_unit_rows, cols);
  shape.blocks = static_cast<unsigned>(blocks.qkv + blocks.z);
  return shape;
}

GDN_KERNEL void in_proj_q4(const InProjQ4& p) {
  const int block = block_index();
  const bool is_qkv = block < p.qkv_blocks;
  gemv_q4_block<true>(is_qkv ? p.qkv : p.z, is_qkv ? block : block - p.qkv_blocks,
                      is_qkv ? p.qkv_blocks : block_count() - p.qkv_blocks);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<kernels::in_proj_q4> = block_threads_max<kernels::gemv_q4>;
template <>
inline constexpr bool begins_early<kernels::in_proj_q4> = true;

}  // namespace gdn::inline GDN_MACHINE
