// Weights by rule, quantised on all cores, and the calls of the ABI.
#include "tests/gpu/stack_layers.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "invariants/harness/generated_weights.h"
#include "reference/formats.h"
#include "reference/parallel_for.h"
#include "reference/values.h"

namespace gdn::gpu {
namespace {

// Numbers uniform in [-s, s), s a power of two, have a root of mean squares of s / sqrt 3.
std::vector<float> matrix(WeightRule rule, bool coherent, uint64_t number, int64_t rows,
                          int64_t cols) {
  const double root = std::sqrt(static_cast<double>(cols));
  rule.scale = std::exp2(-std::round(std::log2(root / std::sqrt(3.0))));
  std::vector<float> weights(static_cast<size_t>(rows * cols));
  generate_weights(rule, number, weights);
  const auto mean = static_cast<float>(coherent ? 1 / root : 0);
  for (float& w : weights) w += mean;
  return weights;
}

// Tiles of four rows lie one after the other, so that slices of rows can be quantised apart.
std::vector<uint8_t> quantised(const std::vector<float>& weights, int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  parallel_for(rows / q4_tile_rows, 16, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * q4_tile_rows;
    const int64_t count = (end - begin) * q4_tile_rows;
    std::string why;
    const auto made = q4_tile_quantise(
        {weights.data() + first * cols, static_cast<size_t>(count * cols)}, count, cols, &why);
    // Finite and small numbers always fit; tiles left zero would show as a wrong result.
    if (made) std::copy(made->begin(), made->end(), tiles.begin() + q4_bytes(first, cols));
  });
  return tiles;
}

}  // namespace

LayerWeights StackLayer::f32_view(const Shape& shape) const {
  LayerWeights w = view_of(numbers, shape);
  w.qkv.tiles = w.z.tiles = w.out.tiles = nullptr;
  return w;
}

LayerWeights StackLayer::q4_view(const Shape& shape) const {
  LayerWeights w = view_of(numbers, shape);
  w.qkv.f32 = w.z.f32 = w.out.f32 = nullptr;
  return w;
}

void StackLayer::scale_norm(int exponent) {
  for (float& x : numbers.norm) x = std::ldexp(x, exponent);
}

StackLayer stack_layer(const Shape& s, bool coherent, uint64_t seed, int64_t layer) {
  const Rng rng = Rng(seed).stream("layer " + std::to_string(layer));
  WeightRule rule;
  rule.base = Rng(rng).next();
  StackLayer made;
  LayerNumbers& n = made.numbers;
  n.qkv = matrix(rule, coherent, 0, s.conv_dim(), s.hidden_size);
  n.z = matrix(rule, coherent, 1, s.v_dim(), s.hidden_size);
  n.out = matrix(rule, coherent, 2, s.hidden_size, s.v_dim());
  n.b = matrix(rule, coherent, 3, s.num_v_heads, s.hidden_size);
  n.a = matrix(rule, coherent, 4, s.num_v_heads, s.hidden_size);
  n.qkv_tiles = quantised(n.qkv, s.conv_dim(), s.hidden_size);
  n.z_tiles = quantised(n.z, s.v_dim(), s.hidden_size);
  n.out_tiles = quantised(n.out, s.hidden_size, s.v_dim());
  n.conv.resize(static_cast<size_t>(s.conv_dim() * s.conv_kernel));
  generate_weights(rule, 5, n.conv);
  for (float& x : n.conv) x = coherent ? (1 + x) / 2 : x;
  Recipe recipe;
  recipe.horizon_tokens = 64;
  n.A_log = draw_A_log(recipe, rng.stream("A_log"), s.num_v_heads);
  n.dt_bias = draw_dt_bias(recipe, rng.stream("dt_bias"), s.num_v_heads);
  n.norm.resize(static_cast<size_t>(s.head_v_dim));
  generate_weights(rule, 6, n.norm);
  for (float& x : n.norm) x = 1 + x / 4;
  return made;
}

StackEngine::StackEngine(const EngineSource& source, const Shape& shape, bool q4)
    : api_(*source.api), shape_(shape), q4_(q4) {
  const gdn_shape c = c_shape(shape);
  const gdn_options options = default_options();
  const gdn_status opened = api_.open(&c, &options, &engine_);
  if (opened != GDN_OK) {
    why_ = fmt::format("open: {}: {}", name_of(opened), api_.last_error(nullptr));
    return;
  }
  if (!q4) return;
  const int64_t bytes = q4_bytes(shape.conv_dim(), shape.hidden_size) +
                        q4_bytes(shape.v_dim(), shape.hidden_size) +
                        q4_bytes(shape.hidden_size, shape.v_dim());
  must(api_.pool_init(engine_, static_cast<uint64_t>(bytes * shape.num_layers)), "pool_init");
}

StackEngine::~StackEngine() {
  if (engine_ != nullptr) api_.close(engine_);
}

void StackEngine::must(gdn_status status, const char* what) {
  if (status == GDN_OK || !usable()) return;
  why_ = fmt::format("{}: {}: {}", what, name_of(status), api_.last_error(engine_));
}

void StackEngine::load(int64_t layer, const StackLayer& weights) {
  if (!usable()) return;
  const LayerNumbers& n = weights.numbers;
  const LayerWeights view = q4_ ? weights.q4_view(shape_) : weights.f32_view(shape_);
  const gdn_layer_weights w = c_weights(view);
  must(api_.load_layer_f32(engine_, layer, &w), "load_layer_f32");
  if (!q4_) return;
  const auto key = static_cast<uint64_t>(3 * layer);
  const auto put = [&](uint64_t which, int64_t rows, int64_t cols,
                       const std::vector<uint8_t>& tiles) {
    must(api_.pool_put(engine_, which, rows, cols, tiles.data()), "pool_put");
  };
  put(key, shape_.conv_dim(), shape_.hidden_size, n.qkv_tiles);
  put(key + 1, shape_.v_dim(), shape_.hidden_size, n.z_tiles);
  put(key + 2, shape_.hidden_size, shape_.v_dim(), n.out_tiles);
  must(api_.bind_q4(engine_, layer, key, key + 1, key + 2), "bind_q4");
}

void StackEngine::reset() {
  if (usable()) must(api_.reset(engine_, GDN_ALL_LAYERS), "reset");
}

std::vector<float> StackEngine::step(int64_t layer, const std::vector<float>& h) {
  std::vector<float> out(h.size());
  if (usable()) must(api_.step(engine_, layer, h.data(), out.data()), "step");
  return out;
}

std::vector<float> StackEngine::forward_one(const std::vector<float>& h) {
  std::vector<float> out(h.size());
  if (usable()) must(api_.forward(engine_, 1, h.data(), out.data()), "forward");
  return out;
}

std::vector<std::vector<float>> StackEngine::forward(const std::vector<std::vector<float>>& h) {
  reset();
  std::vector<float> all;
  for (const std::vector<float>& row : h) all.insert(all.end(), row.begin(), row.end());
  std::vector<float> out(all.size());
  if (usable()) {
    must(api_.forward(engine_, static_cast<int64_t>(h.size()), all.data(), out.data()), "forward");
  }
  std::vector<std::vector<float>> rows;
  const auto width = static_cast<std::ptrdiff_t>(shape_.hidden_size);
  for (auto at = out.begin(); at != out.end(); at += width) rows.emplace_back(at, at + width);
  return rows;
}

std::vector<float> StackEngine::read(int64_t layer, gdn_tensor tensor) {
  const auto count = static_cast<size_t>(element_count(static_cast<Tensor>(tensor), shape_));
  std::vector<float> values(count);
  if (usable()) {
    must(api_.read(engine_, layer, tensor, values.data(), static_cast<int64_t>(count), nullptr),
         "read");
  }
  return values;
}

}  // namespace gdn::gpu
