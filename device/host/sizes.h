// How many elements each array of a shape has, every product checked, and how many bytes of device
// memory an engine takes: docs/memory.md has the formula in words.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "device/gdn.h"

namespace gdn::host {

// False where the result does not fit; *out is then unspecified.
bool multiply(int64_t a, int64_t b, int64_t* out);
bool add(int64_t a, int64_t b, int64_t* out);

struct Sizes {
  int64_t k_dim = 0;     // kh kd
  int64_t v_dim = 0;     // vh vd
  int64_t conv_dim = 0;  // 2 k_dim + v_dim
  std::array<int64_t, GDN_TENSOR_COUNT> tensor = {};

  int64_t state_floats() const { return tensor[GDN_S] + tensor[GDN_HIST]; }
  int64_t token_floats() const;  // the tensors that are not state; V lies within CONV
};

// nullptr, or what is wrong with the shape. num_layers is not looked at where layers is false.
const char* why_not_shape(const gdn_shape& shape, bool layers, Sizes* sizes);

// nullptr and the bytes of a tile matrix, or what is wrong with its dimensions.
const char* why_not_tiles(int64_t rows, int64_t cols, int64_t* bytes);

inline constexpr int64_t staged_tokens = 64;  // of run and forward, in one round trip

// Device memory in bytes. What open allocates stays for the engine's life.
struct DeviceBytes {
  uint64_t states = 0;   // S and HIST of every layer, and the copy that puts them back
  uint64_t tensors = 0;  // of the token at hand, or where they are observed of every layer, twice
  uint64_t tokens = 0;   // h, decay, staged tokens, rounded activations
  uint64_t open() const { return states + tensors + tokens; }

  uint64_t small_tensors = 0;  // of a layer
  uint64_t f32_projections = 0;
  uint64_t q4_projections = 0;  // of the pool
  uint64_t snapshot_of_a_layer = 0;
};
// For a shape that why_not_shape has nothing against.
DeviceBytes device_bytes(const gdn_shape& shape, const gdn_options& options);
// One line a term; all layers bound to 4-bit projections.
std::string text_of(const DeviceBytes& bytes, int64_t layers);

}  // namespace gdn::host
