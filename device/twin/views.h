// Strided views into the engine's buffers, as recurrent takes them.
#pragma once

#include <array>
#include <cstdint>

#include "device/gdn.h"

namespace gdn::twin {

struct ViewRule {
  enum class Holds : uint8_t { numbers, float32, int32 };  // numbers: f32, bf16, f16
  const char* name;
  const gdn_view& view;
  std::array<int64_t, 4> extents;  // unused dimensions are 1 and have no stride
  int dimensions;
  Holds holds;
  bool is_required;
};

// Where element (i, j, k, l) stands, in elements; dimensions beyond the view's are 0.
inline int64_t element_index(const gdn_view& v, int64_t i, int64_t j = 0, int64_t k = 0,
                             int64_t l = 0) {
  return v.offset + i * v.stride[0] + j * v.stride[1] + k * v.stride[2] + l * v.stride[3];
}

}  // namespace gdn::twin
