// Sums of the rows of 4-bit matrices on a GPU, which keeps the tiles. See row_sum_lanes.h for the
// sums and their bound. Where there is no GPU, or no nvcc built this program, it says so.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "reference/row_sums.h"

namespace gdn {

// A GPU that gives no answer: it is out of memory, or lost.
struct GpuFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class GpuRowSums {
 public:
  // Null where there is none that this program has code for: *why says what is missing.
  static std::unique_ptr<GpuRowSums> open(std::string* why);
  virtual ~GpuRowSums() = default;
  // A copy of the tiles is kept on the GPU for as long as the result lives, which needs no more of
  // this object. Throws GpuFailure, and so does its take().
  virtual std::unique_ptr<RowSums> of_tiles(const uint8_t* tiles, int64_t rows, int64_t cols) = 0;
};

}  // namespace gdn
