// Scales and codes by the project's own random numbers, on all cores.
#include "ci/stack_weights.h"

#include <cmath>
#include <cstring>
#include <string>

#include "invariants/harness/generated_weights.h"
#include "reference/formats.h"
#include "reference/parallel_for.h"
#include "reference/values.h"

namespace gdn {
namespace {

// A layer must neither shrink nor enlarge h, whatever its size, or the last layers see nothing.
// silu halves small numbers and keeps large ones that are positive: with z this large it is linear
// but for the sign, and takes a factor of sqrt(1/2), which the norm's weights give back. The conv's
// outputs are large for another reason: an output of the recurrence far above the norm's eps.
constexpr double z_norm = 8;
constexpr float norm_weight = 0.177F;

// Four scales of random sign, then eight words of random codes. Codes from -8 to 7 have a root of
// mean squares of sqrt(21.5), factors from 1/2 to 3/2 one of sqrt(13/12).
void put_tile(Rng& rng, double scale, uint8_t* tile) {
  for (int row = 0; row < q4_tile_rows; ++row) {
    const double factor = 0.5 + static_cast<double>(rng.unit());
    const double sign = rng.next() % 2 == 0 ? 1 : -1;
    const uint16_t bits = f16_encode(sign * factor * scale);
    *tile++ = static_cast<uint8_t>(bits);
    *tile++ = static_cast<uint8_t>(bits >> 8);
  }
  for (int i = 0; i < q4_tile_rows * q4_block_weights / 16; ++i) {
    const uint64_t codes = rng.next();
    for (int byte = 0; byte < 8; ++byte) *tile++ = static_cast<uint8_t>(codes >> (8 * byte));
  }
}

// Rows have a norm of about `norm`.
std::vector<uint8_t> tiles_of(const Rng& rng, int64_t rows, int64_t cols, double norm) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  const double scale = norm / std::sqrt(21.5 * 13 / 12 * static_cast<double>(cols));
  const uint64_t base = Rng(rng).next();
  const int64_t tiles_a_group = cols / q4_block_weights;
  parallel_for(rows / q4_tile_rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      Rng own(mix64(base ^ static_cast<uint64_t>(group)));
      uint8_t* const first = tiles.data() + group * tiles_a_group * q4_tile_bytes;
      for (int64_t tile = 0; tile < tiles_a_group; ++tile) {
        put_tile(own, scale, first + tile * q4_tile_bytes);
      }
    }
  });
  return tiles;
}

// Numbers uniform in [-s, s), s a power of two, have a root of mean squares of s / sqrt 3.
std::vector<float> rows_of(WeightRule rule, uint64_t number, int64_t rows, int64_t cols) {
  const double root = std::sqrt(static_cast<double>(cols));
  rule.scale = std::exp2(-std::round(std::log2(root / std::sqrt(3.0))));
  std::vector<float> weights(static_cast<size_t>(rows * cols));
  generate_weights(rule, number, weights);
  return weights;
}

}  // namespace

LayerNumbers stack_weights(const Shape& s, uint64_t seed, int64_t layer) {
  const Rng rng = Rng(seed).stream("layer " + std::to_string(layer));
  LayerNumbers n;
  n.qkv_tiles = tiles_of(rng.stream("qkv"), s.conv_dim(), s.hidden_size, 1);
  n.z_tiles = tiles_of(rng.stream("z"), s.v_dim(), s.hidden_size, z_norm);
  n.out_tiles = tiles_of(rng.stream("out"), s.hidden_size, s.v_dim(), 1);
  WeightRule rule;
  rule.base = Rng(rng).next();
  n.b = rows_of(rule, 0, s.num_v_heads, s.hidden_size);
  n.a = rows_of(rule, 1, s.num_v_heads, s.hidden_size);
  n.conv.resize(static_cast<size_t>(s.conv_dim() * s.conv_kernel));
  generate_weights({.base = rule.base, .scale = 8}, 2, n.conv);
  Recipe recipe;
  recipe.horizon_tokens = 64;
  n.A_log = draw_A_log(recipe, rng.stream("A_log"), s.num_v_heads);
  n.dt_bias = draw_dt_bias(recipe, rng.stream("dt_bias"), s.num_v_heads);
  n.norm.resize(static_cast<size_t>(s.head_v_dim));
  generate_weights(rule, 3, n.norm);
  for (float& x : n.norm) x = norm_weight * (1 + x / 4);
  return n;
}

std::vector<float> stack_input(const Shape& shape, uint64_t seed, int64_t token) {
  Rng rng = Rng(seed).stream("token " + std::to_string(token));
  std::vector<float> h(static_cast<size_t>(shape.hidden_size));
  for (float& x : h) x = 1.75F * rng.signed_unit();
  return h;
}

}  // namespace gdn
