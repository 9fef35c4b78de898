// How many elements each tensor of a shape has, every product checked.
#include "device/twin/sizes.h"

#include <cmath>

namespace gdn::twin {
namespace {

bool is_epsilon(float value) { return std::isfinite(value) && value >= 0; }

// All products that the engine forms, in elements of at most 8 bytes.
bool sizes_of(const gdn_shape& s, Sizes* sizes) {
  int64_t k_twice = 0;
  int64_t per_head = 0;
  int64_t state = 0;
  int64_t history = 0;
  int64_t largest = 0;
  const bool fits =
      multiply(s.num_k_heads, s.head_k_dim, &sizes->k_dim) &&
      multiply(s.num_v_heads, s.head_v_dim, &sizes->v_dim) && multiply(sizes->k_dim, 2, &k_twice) &&
      add(k_twice, sizes->v_dim, &sizes->conv_dim) &&
      multiply(s.head_k_dim, s.head_v_dim, &per_head) &&
      multiply(per_head, s.num_v_heads, &state) &&
      multiply(s.conv_kernel, sizes->conv_dim, &history) &&
      multiply(sizes->conv_dim, s.hidden_size, &largest) && multiply(largest, 8, &largest) &&
      add(state, history, &sizes->state_bytes) && multiply(sizes->state_bytes, 8, &largest);
  if (!fits) return false;
  history -= sizes->conv_dim;
  sizes->state_bytes = (state + history) * int64_t{sizeof(float)};
  const int64_t k = sizes->k_dim;
  const int64_t v = sizes->v_dim;
  const int64_t c = sizes->conv_dim;
  const int64_t heads = s.num_v_heads;
  sizes->tensor = {c, v, heads, heads, heads,         heads, c,      k,
                   k, v, v,     v,     s.hidden_size, state, history};
  return true;
}

}  // namespace

bool multiply(int64_t a, int64_t b, int64_t* out) { return !__builtin_mul_overflow(a, b, out); }
bool add(int64_t a, int64_t b, int64_t* out) { return !__builtin_add_overflow(a, b, out); }

const char* why_not_shape(const gdn_shape& shape, bool layers, Sizes* sizes) {
  if (shape.hidden_size < 1) return "hidden_size is below 1";
  if (shape.num_k_heads < 1) return "num_k_heads is below 1";
  if (shape.head_k_dim < 1) return "head_k_dim is below 1";
  if (shape.num_v_heads < 1) return "num_v_heads is below 1";
  if (shape.head_v_dim < 1) return "head_v_dim is below 1";
  if (shape.conv_kernel < 1) return "conv_kernel is below 1";
  if (shape.num_v_heads % shape.num_k_heads != 0) {
    return "num_v_heads is not a multiple of num_k_heads";
  }
  if (!is_epsilon(shape.rms_norm_eps)) return "rms_norm_eps is negative or not finite";
  if (!is_epsilon(shape.l2norm_eps)) return "l2norm_eps is negative or not finite";
  if (!sizes_of(shape, sizes)) return "the shape's sizes overflow 64 bits";
  if (!layers) return nullptr;
  int64_t all_bytes = 0;
  if (shape.num_layers < 1) return "num_layers is below 1";
  if (!multiply(sizes->state_bytes, shape.num_layers, &all_bytes)) {
    return "the shape's sizes overflow 64 bits";
  }
  return nullptr;
}

}  // namespace gdn::twin
