// Row sums as the GPU takes them, on the CPU: the same source, a warp's lanes in loops.
#pragma once

#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "reference/bound.h"
#include "reference/formats.h"
#include "reference/gpu/row_sum_lanes.h"
#include "reference/gpu/row_sums.h"

namespace gdn {

class RowSumsByLanes final : public RowSums {
 public:
  RowSumsByLanes(const uint8_t* tiles, int64_t rows, int64_t cols)
      : tiles_(static_cast<size_t>(q4_bytes(rows, cols)) / sizeof(uint32_t)), cols_(cols) {
    std::memcpy(tiles_.data(), tiles, tiles_.size() * sizeof(uint32_t));
  }

  void take(const RowInputs& inputs, std::span<RowSum> out) const override {
    ++taken;
    bool tiny = false;
    for (const double x : inputs.x) tiny = tiny || (x != 0 && std::fabs(x) < 0x1p-800);
    const lanes::Roundings roundings = lanes::roundings_of(cols_, tiny);
    const auto pointer = [](std::span<const double> all) {
      return all.empty() ? nullptr : all.data();
    };
    lanes::Rows rows{tiles_.data(), cols_ / q4_block_weights, pointer(inputs.x),
                     pointer(inputs.bound), pointer(inputs.digits)};
    for (size_t first = 0; first < out.size(); first += lanes::rows_a_warp) {
      lanes::Result four[lanes::rows_a_warp];
      lanes::sum_four_rows(rows, roundings, bound_slack, four);
      for (size_t i = 0; i < lanes::rows_a_warp; ++i) {
        const lanes::Result& r = four[i];
        out[first + i] = {{r.value, r.radius, r.sum_abs}, r.carried, r.digits};
      }
      rows.tiles += rows.tiles_a_row * lanes::tile_words;
    }
  }

  mutable std::atomic<int> taken = 0;  // how often it was asked

 private:
  std::vector<uint32_t> tiles_;
  int64_t cols_;
};

// In place of a GPU.
class LanesForGpu final : public GpuRowSums {
 public:
  std::unique_ptr<RowSums> of_tiles(const uint8_t* tiles, int64_t rows, int64_t cols) override {
    return std::make_unique<RowSumsByLanes>(tiles, rows, cols);
  }
};

}  // namespace gdn
