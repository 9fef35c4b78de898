// How many elements each tensor of a shape has, every product checked.
#pragma once

#include <array>
#include <cstdint>

#include "device/gdn.h"

namespace gdn::twin {

// False where the result does not fit; *out is then unspecified.
bool multiply(int64_t a, int64_t b, int64_t* out);
bool add(int64_t a, int64_t b, int64_t* out);

struct Sizes {
  int64_t k_dim = 0;     // kh kd
  int64_t v_dim = 0;     // vh vd
  int64_t conv_dim = 0;  // 2 k_dim + v_dim
  std::array<int64_t, GDN_TENSOR_COUNT> tensor = {};
  int64_t state_bytes = 0;  // S and HIST of one layer
};

// nullptr, or what is wrong with the shape. num_layers is not looked at where layers is false.
const char* why_not_shape(const gdn_shape& shape, bool layers, Sizes* sizes);

}  // namespace gdn::twin
