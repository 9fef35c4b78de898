// Strided views into the engine's buffers, as recurrent takes them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "device/gdn.h"

namespace gdn::host {

struct ViewRule {
  enum class Holds : uint8_t { numbers, float32, int32 };  // numbers: f32, bf16, f16
  const char* name;
  const gdn_view& view;
  std::array<int64_t, 4> extents;  // unused dimensions are 1
  int dimensions;
  Holds holds;
  bool is_required;
};

// The bytes of a buffer of this name; -1 where there is none.
using BufferBytes = std::function<int64_t(gdn_buffer)>;

// Throws Failed unless the view's buffer exists, holds its format and contains each element that
// the view names.
void check(const ViewRule& rule, const BufferBytes& bytes_of);

// Of one element of a buffer's format; 0 for tiles, which are no elements.
int64_t element_bytes(gdn_format format);

}  // namespace gdn::host
