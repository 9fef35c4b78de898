// How many elements each array of a shape has, every product checked.
#include "device/host/sizes.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace gdn::host {
namespace {

bool is_epsilon(float value) { return std::isfinite(value) && value >= 0; }

// Every product that the engine forms; the largest have elements of 8 bytes or fewer.
bool sizes_of(const gdn_shape& s, Sizes* sizes) {
  int64_t both_k = 0;
  int64_t head = 0;
  int64_t state = 0;
  int64_t taps = 0;
  int64_t bytes = 0;
  int64_t staged = 0;
  const bool fits =
      multiply(s.num_k_heads, s.head_k_dim, &sizes->k_dim) &&
      multiply(s.num_v_heads, s.head_v_dim, &sizes->v_dim) && multiply(sizes->k_dim, 2, &both_k) &&
      add(both_k, sizes->v_dim, &sizes->conv_dim) && multiply(s.head_k_dim, s.head_v_dim, &head) &&
      multiply(head, s.num_v_heads, &state) && multiply(s.conv_kernel, sizes->conv_dim, &taps) &&
      add(state, taps, &bytes) && multiply(bytes, 8, &bytes) &&
      multiply(sizes->conv_dim, s.hidden_size, &bytes) && multiply(bytes, 8, &bytes) &&
      multiply(s.hidden_size, 8 * staged_tokens, &staged);
  if (!fits) return false;
  const int64_t k = sizes->k_dim;
  const int64_t v = sizes->v_dim;
  const int64_t c = sizes->conv_dim;
  const int64_t heads = s.num_v_heads;
  sizes->tensor = {c, v, heads, heads, heads,         heads, c,       k,
                   k, v, v,     v,     s.hidden_size, state, taps - c};
  return true;
}

}  // namespace

bool multiply(int64_t a, int64_t b, int64_t* out) { return !__builtin_mul_overflow(a, b, out); }
bool add(int64_t a, int64_t b, int64_t* out) { return !__builtin_add_overflow(a, b, out); }

int64_t Sizes::token_floats() const {
  int64_t total = 0;
  for (int t = 0; t < GDN_S; ++t) total += t == GDN_V ? 0 : tensor[static_cast<size_t>(t)];
  return total;
}

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
  int64_t floats = 0;
  if (shape.num_layers < 1) return "num_layers is below 1";
  const bool fits = multiply(sizes->state_floats(), shape.num_layers, &floats) &&
                    multiply(floats, 2 * int64_t{sizeof(float)}, &floats);
  return fits ? nullptr : "the shape's sizes overflow 64 bits";
}

DeviceBytes device_bytes(const gdn_shape& s, const gdn_options& options) {
  Sizes sizes;
  if (why_not_shape(s, true, &sizes) != nullptr) return {};
  const auto floats = [](int64_t count) { return static_cast<uint64_t>(count) * sizeof(float); };
  const bool observes = options.observe != 0;
  const bool rounds = options.q8_activations != 0;
  const int64_t large = sizes.conv_dim * s.hidden_size + 2 * sizes.v_dim * s.hidden_size;
  DeviceBytes bytes;
  bytes.states = floats(2 * s.num_layers * sizes.state_floats());
  bytes.tensors = floats(sizes.token_floats() * (observes ? 2 * s.num_layers : 1));
  bytes.tokens = floats(s.num_v_heads + s.hidden_size * (1 + staged_tokens) +
                        (rounds ? std::max(s.hidden_size, sizes.v_dim) : 0));
  bytes.small_tensors = floats(2 * s.num_v_heads * s.hidden_size + sizes.conv_dim * s.conv_kernel +
                               2 * s.num_v_heads + s.head_v_dim);
  bytes.f32_projections = floats(large);
  bytes.q4_projections = static_cast<uint64_t>(large / 32) * 18;
  bytes.snapshot_of_a_layer = floats(sizes.state_floats());
  return bytes;
}

std::string text_of(const DeviceBytes& bytes, int64_t layers) {
  std::string text;
  uint64_t sum = 0;
  const auto line = [&](const char* what, uint64_t count) {
    char printed[80];
    std::snprintf(printed, sizeof printed, "%-42s %14" PRIu64 "\n", what, count);
    text += printed;
  };
  const auto term = [&](const char* what, uint64_t count) {
    line(what, count);
    sum += count;
  };
  const auto all = static_cast<uint64_t>(layers);
  term("states, and the copy to put them back", bytes.states);
  term("tensors of tokens", bytes.tensors);
  term("h, decay, staged tokens, rounded x", bytes.tokens);
  term("small tensors of all layers", all * bytes.small_tensors);
  term("4-bit projections of all layers", all * bytes.q4_projections);
  line("together", sum);
  return text;
}

const char* why_not_tiles(int64_t rows, int64_t cols, int64_t* bytes) {
  if (rows < 1 || rows % 4 != 0) return "rows must be a positive multiple of 4";
  if (cols < 1 || cols % 32 != 0) return "cols must be a positive multiple of 32";
  // The decoder counts weights, of which there are more than bytes.
  int64_t weights = 0;
  if (!multiply(rows, cols, &weights)) return "the matrix's size overflows 64 bits";
  *bytes = weights / 128 * 72;
  return nullptr;
}

}  // namespace gdn::host
