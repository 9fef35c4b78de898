// Strided views of f32, bf16 or f16 numbers: their elements' places, and their reading into
// contiguous float32, each times a factor, before the recurrence on its own. An element a thread.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

enum class Storage : int32_t { f32, bf16, f16 };

// Element (i, j, l) of [n0][n1][n2] stands at offset + i s0 + j s1 + l s2.
struct View {
  global<uint8_t> bytes;
  int64_t offset, s0, s1, s2;
  int64_t n0, n1, n2;
  Storage storage;
};

struct Gather {
  View view;
  global<float> to;  // [n0][n1][n2]
  float factor;      // applied after widening
};

// Threads: any; blocks: any.
inline LaunchShape strided_shape(int64_t count) {
  const int64_t blocks = (count + 127) / 128;
  return {.blocks = static_cast<unsigned>(blocks < 65536 ? blocks : 65536), .threads = 128};
}

GDN_DEVICE int64_t element_of(const View& v, int64_t n) {
  const int64_t l = n % v.n2;
  const int64_t j = n / v.n2 % v.n1;
  const int64_t i = n / v.n2 / v.n1;
  return v.offset + i * v.s0 + j * v.s1 + l * v.s2;
}

GDN_DEVICE float load_stored(global<uint8_t> bytes, Storage storage, int64_t element) {
  if (storage == Storage::f32) return as<float>(bytes)[element];
  const uint16_t bits = as<uint16_t>(bytes)[element];
  return storage == Storage::f16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

GDN_DEVICE void store_stored(global<uint8_t> bytes, Storage storage, int64_t element, float value) {
  if (storage == Storage::f32) {
    as<float>(bytes)[element] = value;
  } else {
    as<uint16_t>(bytes)[element] =
        storage == Storage::f16 ? float_to_half(value) : float_to_bfloat16(value);
  }
}

GDN_DEVICE float load_number(const View& v, int64_t element) {
  return load_stored(v.bytes, v.storage, element);
}

GDN_DEVICE void store_number(const View& v, int64_t element, float value) {
  store_stored(v.bytes, v.storage, element, value);
}

GDN_DEVICE int64_t first_element() {
  return static_cast<int64_t>(block_index()) * thread_count() + thread_index();
}
GDN_DEVICE int64_t element_step() { return static_cast<int64_t>(block_count()) * thread_count(); }

GDN_KERNEL void gather(const Gather& p) {
  const int64_t count = p.view.n0 * p.view.n1 * p.view.n2;
  for (int64_t n = first_element(); n < count; n += element_step()) {
    p.to[n] = load_number(p.view, element_of(p.view, n)) * p.factor;
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels
