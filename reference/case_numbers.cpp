// The numbers that a case stands for: drawn by its recipe, replaced where it gives them itself.
#ifdef __FAST_MATH__
#error "the values of a case need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/case.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// Hands out arrays by name and remembers what did not fit.
class Source {
 public:
  explicit Source(const Case& c) : case_(c), rng_(c.seed) {}

  Rng stream(const std::string& name) const { return rng_.stream(name); }

  // `drawn`, unless the case gives numbers of this name itself.
  std::vector<float> array(const std::string& name, std::vector<float> drawn) {
    const auto given = case_.numbers.find(name);
    if (given == case_.numbers.end()) return drawn;
    used_.insert(name);
    if (!has_count(*given, drawn.size(), "")) return drawn;
    for (size_t i = 0; i < drawn.size(); ++i) drawn[i] = std::bit_cast<float>(given->second[i]);
    return drawn;
  }

  bool gives(const std::string& name) const { return case_.numbers.contains(name); }

  // The bytes of a tile matrix that the case gives under this name.
  std::vector<uint8_t> tiles(const std::string& name, int64_t rows, int64_t cols) {
    const auto given = case_.numbers.find(name);
    used_.insert(name);
    std::vector<uint8_t> bytes(static_cast<size_t>(q4_bytes(rows, cols)));
    if (!has_count(*given, bytes.size() / 4, " words, 18 a tile")) return bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(given->second[i / 4] >> (8 * (i % 4)));
    }
    return bytes;
  }

  // What went wrong, numbers of a name that the case has no array for among it.
  std::string why() const {
    if (!why_.empty()) return why_;
    for (const auto& [name, bits] : case_.numbers) {
      if (!used_.contains(name)) return "numbers " + name + ": " + why_unused(name);
    }
    return "";
  }

  std::vector<uint8_t> quantised(const std::string& name, const std::vector<float>& weights,
                                 int64_t rows, int64_t cols) {
    std::string why;
    std::optional<std::vector<uint8_t>> tiles = q4_tile_quantise(weights, rows, cols, &why);
    if (tiles) return *std::move(tiles);
    why_ = name + ": cannot be quantised: " + why;
    return {};
  }

 private:
  bool has_count(const std::pair<const std::string, std::vector<uint32_t>>& given, size_t count,
                 const char* unit) {
    if (given.second.size() == count) return true;
    why_ = "numbers " + given.first + ": " + std::to_string(given.second.size()) +
           " given, expected " + std::to_string(count) + unit;
    return false;
  }

  std::string why_unused(const std::string& name) const {
    const size_t end = std::min(name.find('@'), name.size());
    const bool has_matrices = case_.subject == Subject::layer ||
                              case_.subject == Subject::in_proj ||
                              case_.subject == Subject::out_proj;
    if (has_matrices && case_.weights == Weights::f32 && name.substr(0, end).ends_with("tiles")) {
      return "4-bit tiles need a line weights q4, the weights are f32";
    }
    const std::string tiles = name == "weight" ? "tiles" : std::string(name).insert(end, "_tiles");
    if (used_.contains(tiles)) return "the case gives its " + tiles + " as well";
    return "a case of " + std::string(name_of(case_.subject)) + " has no such array";
  }

  const Case& case_;
  Rng rng_;
  std::set<std::string> used_;
  std::string why_;
};

// A power of two that cancels that of h[0], so that column 0 of a matrix acts as a bias.
float cancelling_exponent(const Recipe& recipe) {
  return std::ldexp(1.0F, static_cast<int>(std::clamp<int64_t>(-recipe.input_exponent, -120, 120)));
}

// 4-bit weights by bit pattern: the tiles are drawn, since few such float32 weights can be
// quantised.
bool draws_tiles(const Case& c) {
  const Pattern pattern = static_cast<Pattern>(c.recipe.weight_pattern);
  return c.weights == Weights::q4 &&
         (pattern == Pattern::any_finite || pattern == Pattern::any_bits);
}

std::vector<float> gate_rows(const Case& c, const Rng& rng, int64_t logit) {
  const int64_t rows = c.shape.num_v_heads;
  const int64_t cols = c.shape.hidden_size;
  Recipe recipe = c.recipe;
  // Beside tiles by bit pattern these stay ordinary: a gate of any bits hides all that follows.
  if (draws_tiles(c)) recipe.weight_pattern = static_cast<int64_t>(Pattern::smooth);
  std::vector<float> weights = draw_matrix(recipe, rng, rows, cols);
  if (logit == 0) return weights;
  const float bias = static_cast<float>(logit) * cancelling_exponent(c.recipe);
  for (int64_t row = 0; row < rows; ++row) weights[static_cast<size_t>(row * cols)] = bias;
  return weights;
}

// Taps of about 1/2: the sum of a few inputs stays about as large as they are.
std::vector<float> conv_weights(const Case& c, Rng rng) {
  const Shape& s = c.shape;
  std::vector<float> taps = draw(rng, Pattern::smooth, s.conv_dim() * s.conv_kernel, 0);
  oppose_pairs(c.recipe, taps, s.conv_kernel);
  return taps;
}

std::vector<float> norm_weights(const Shape& shape, Rng rng) {
  std::vector<float> weights(static_cast<size_t>(shape.head_v_dim));
  for (float& w : weights) w = 1 + rng.signed_unit() / 4;
  return weights;
}

// Tiles of any bytes, but for the scales: infinite and NaN ones come with Pattern::any_bits alone.
std::vector<uint8_t> random_tiles(const Recipe& recipe, Rng rng, int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  for (uint8_t& byte : tiles) byte = static_cast<uint8_t>(rng.next());
  if (static_cast<Pattern>(recipe.weight_pattern) == Pattern::any_bits) return tiles;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const bool high_byte_of_scale = i % q4_tile_bytes < 8 && i % 2 == 1;
    // Clearing one bit of an all-ones exponent makes it finite.
    if (high_byte_of_scale && (tiles[i] & 0x7C) == 0x7C) tiles[i] &= 0xBF;
  }
  return tiles;
}

std::vector<uint8_t> tiles_of(const Case& c, Source& source, const std::string& name,
                              const std::vector<float>& weights, int64_t rows, int64_t cols) {
  if (draws_tiles(c) && !c.numbers.contains(name)) {
    return random_tiles(c.recipe, source.stream(name + " tiles"), rows, cols);
  }
  return source.quantised(name, weights, rows, cols);
}

// The matrices of a layer: each float32, or tiles by their bits, drawn, or quantised.
void large_matrices(const Case& c, const std::string& suffix, Source& source, LayerNumbers& n) {
  const Shape& s = c.shape;
  const auto make = [&](const std::string& name, int64_t rows, int64_t cols,
                        std::vector<float>& f32, std::vector<uint8_t>& tiles) {
    const bool q4 = c.weights == Weights::q4;
    if (q4 && source.gives(name + "_tiles" + suffix)) {
      tiles = source.tiles(name + "_tiles" + suffix, rows, cols);
      return;
    }
    f32 = source.array(name + suffix,
                       draw_matrix(c.recipe, source.stream(name + suffix), rows, cols));
    if (!q4) return;
    tiles = tiles_of(c, source, name + suffix, f32, rows, cols);
    f32 = {};
  };
  make("qkv", s.conv_dim(), s.hidden_size, n.qkv, n.qkv_tiles);
  make("z", s.v_dim(), s.hidden_size, n.z, n.z_tiles);
  make("out", s.hidden_size, s.v_dim(), n.out, n.out_tiles);
}

LayerNumbers layer_numbers(const Case& c, int64_t layer, Source& source) {
  const Shape& s = c.shape;
  // Layer 0's arrays have plain names; those of layer n are named `qkv@n`.
  const std::string suffix = layer == 0 ? "" : "@" + std::to_string(layer);
  const auto rng = [&](const char* name) { return source.stream(name + suffix); };
  LayerNumbers n;
  large_matrices(c, suffix, source, n);
  n.b = source.array("b" + suffix, gate_rows(c, rng("b"), c.recipe.beta_logit));
  n.a = source.array("a" + suffix, gate_rows(c, rng("a"), 0));
  n.conv = source.array("conv" + suffix, conv_weights(c, rng("conv")));
  n.A_log = source.array("A_log" + suffix, draw_A_log(c.recipe, rng("A_log"), s.num_v_heads));
  n.dt_bias =
      source.array("dt_bias" + suffix, draw_dt_bias(c.recipe, rng("dt_bias"), s.num_v_heads));
  n.norm = source.array("norm" + suffix, norm_weights(s, rng("norm")));
  return n;
}

std::vector<std::vector<float>> hidden_stream(const Case& c, Source& source) {
  const int64_t hidden = c.shape.hidden_size;
  std::vector<float> all;
  all.reserve(static_cast<size_t>(c.tokens * hidden));
  for (int64_t t = 0; t < c.tokens; ++t) {
    std::vector<float> h = draw_input(c.recipe, source.stream("h"), hidden, t);
    if (c.recipe.beta_logit != 0) h[0] = 1 / cancelling_exponent(c.recipe);
    all.insert(all.end(), h.begin(), h.end());
  }
  all = source.array("h", std::move(all));
  std::vector<std::vector<float>> rows;
  for (int64_t t = 0; t < c.tokens; ++t) {
    const auto begin = all.begin() + t * hidden;
    rows.emplace_back(begin, begin + hidden);
  }
  return rows;
}

// Keys and queries of norm about 1, so that a state without a norm in front of it does not grow.
std::vector<float> unit_heads(const Case& c, const Rng& rng, int64_t token) {
  Recipe recipe = c.recipe;
  recipe.input_exponent -= floor_log2(c.shape.head_k_dim) / 2;
  return draw_input(recipe, rng, c.shape.k_dim(), token);
}

void round_inputs(Format format, std::vector<float>& numbers) {
  if (format == Format::f32) return;
  for (float& x : numbers) {
    x = format == Format::bf16 ? bf16_decode(bf16_encode(x)) : f16_decode(f16_encode(x));
  }
}

// q, k, v, g and gk by the dialect, beta of `tokens` tokens, and the state before the first.
void recurrence_arrays(const Case& c, int64_t tokens, Source& source, Numbers& numbers) {
  const Shape& s = c.shape;
  const Dialect::Decay decay = c.dialect.decay;
  std::map<std::string, std::vector<float>> all;
  for (int64_t t = 0; t < tokens; ++t) {
    const auto append = [&](const std::string& name, const std::vector<float>& part) {
      all[name].insert(all[name].end(), part.begin(), part.end());
    };
    const auto of_token = [&](const char* name) {
      return source.stream(name).stream("token " + std::to_string(t));
    };
    append("q", unit_heads(c, source.stream("q"), t));
    std::vector<float> k = unit_heads(c, source.stream("k"), t);
    oppose_pairs(c.recipe, k, s.head_k_dim);
    append("k", k);
    append("v", draw_input(c.recipe, source.stream("v"), s.v_dim(), t));
    append("beta", draw_beta(c.recipe, of_token("beta"), s.num_v_heads));
    if (decay != Dialect::Decay::per_channel) {
      append("g", draw_log_decay(c.recipe, of_token("g"), s.num_v_heads));
    }
    if (decay == Dialect::Decay::per_channel || decay == Dialect::Decay::g_then_gk) {
      append("gk", draw_log_decay(c.recipe, of_token("gk"), s.num_v_heads * s.head_k_dim));
    }
    if (decay == Dialect::Decay::second_scalar) {
      append("gk", draw_log_decay(c.recipe, of_token("gk"), s.num_v_heads));
    }
  }
  // Where each channel has a decay of its own, a head has none.
  if (c.dialect.gate_input == Dialect::GateInput::linear_alpha && all.contains("g")) {
    for (float& g : all["g"]) g = 1 / (1 - g);  // in (0, 1), about 1 - 1/horizon
  }
  std::vector<float>& states = all["S"];
  states = draw_input(c.recipe, source.stream("S"), s.state_count(), 0);
  for (int64_t slot = 1; slot < c.pool.states; ++slot) {
    const std::vector<float> state = draw_input(
        c.recipe, source.stream("S").stream("slot " + std::to_string(slot)), s.state_count(), 0);
    states.insert(states.end(), state.begin(), state.end());
  }
  for (auto& [name, drawn] : all) {
    std::vector<float> array = source.array(name, std::move(drawn));
    const bool is_input = name == "q" || name == "k" || name == "v" || name == "beta";
    if (is_input) round_inputs(c.dialect.input_storage, array);
    if (name == "S") round_inputs(c.dialect.state_storage, array);
    numbers.arrays[name] = std::move(array);
  }
}

void operator_arrays(const Case& c, Source& source, Numbers& numbers) {
  const Shape& s = c.shape;
  const auto put = [&](const std::string& name, std::vector<float> drawn) {
    numbers.arrays[name] = source.array(name, std::move(drawn));
  };
  const auto put_input = [&](const std::string& name, int64_t count) {
    // What the case gives itself need not be drawn.
    put(name, source.gives(name) ? std::vector<float>(static_cast<size_t>(count))
                                 : draw_input(c.recipe, source.stream(name), count, 0));
  };
  switch (c.subject) {
    case Subject::in_proj:
    case Subject::out_proj:
      put_input("x", c.cols);
      if (c.weights == Weights::q4 && source.gives("tiles")) {
        numbers.tiles = source.tiles("tiles", c.rows, c.cols);
        return;
      }
      put("weight", draw_matrix(c.recipe, source.stream("weight"), c.rows, c.cols));
      if (c.weights == Weights::f32) return;
      numbers.tiles = tiles_of(c, source, "weight", numbers.arrays["weight"], c.rows, c.cols);
      numbers.arrays.erase("weight");
      return;
    case Subject::gates: {
      put_input("a", s.num_v_heads);
      std::vector<float> b = draw_input(c.recipe, source.stream("b"), s.num_v_heads, 0);
      for (float& x : b) x += static_cast<float>(c.recipe.beta_logit);
      put("b", std::move(b));
      put("A_log", draw_A_log(c.recipe, source.stream("A_log"), s.num_v_heads));
      put("dt_bias", draw_dt_bias(c.recipe, source.stream("dt_bias"), s.num_v_heads));
      return;
    }
    case Subject::conv:
      put_input("x", s.conv_dim());
      put_input("hist", s.history_count());
      put("weight", conv_weights(c, source.stream("weight")));
      return;
    case Subject::qk_norm:
      put_input("q", s.k_dim());
      put_input("k", s.k_dim());
      return;
    case Subject::delta_rule:
      recurrence_arrays(c, 1, source, numbers);
      return;
    case Subject::recurrent:
      recurrence_arrays(c, c.tokens, source, numbers);
      return;
    case Subject::gated_norm:
      put_input("o", s.v_dim());
      put_input("z", s.v_dim());
      put("weight", norm_weights(s, source.stream("weight")));
      return;
    case Subject::dequant:
      numbers.tiles = source.gives("tiles")
                          ? source.tiles("tiles", c.rows, c.cols)
                          : random_tiles(c.recipe, source.stream("tiles"), c.rows, c.cols);
      return;
    case Subject::layer:
      return;
  }
}

}  // namespace

std::optional<Numbers> materialise(const Case& c, std::string* why) {
  *why = why_invalid(c);
  if (!why->empty()) return std::nullopt;
  Source source(c);
  Numbers numbers;
  if (c.subject == Subject::layer) {
    for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
      numbers.layers.push_back(layer_numbers(c, layer, source));
    }
    numbers.h = hidden_stream(c, source);
  } else {
    operator_arrays(c, source, numbers);
  }
  *why = source.why();
  if (!why->empty()) return std::nullopt;
  return numbers;
}

LayerWeights view_of(const LayerNumbers& n, const Shape& s) {
  const auto matrix = [](int64_t rows, int64_t cols, const std::vector<float>& f32,
                         const std::vector<uint8_t>& tiles) {
    Matrix m;
    m.rows = rows;
    m.cols = cols;
    m.f32 = f32.empty() ? nullptr : f32.data();
    m.tiles = tiles.empty() ? nullptr : tiles.data();
    return m;
  };
  LayerWeights w;
  w.qkv = matrix(s.conv_dim(), s.hidden_size, n.qkv, n.qkv_tiles);
  w.z = matrix(s.v_dim(), s.hidden_size, n.z, n.z_tiles);
  w.b = matrix(s.num_v_heads, s.hidden_size, n.b, {});
  w.a = matrix(s.num_v_heads, s.hidden_size, n.a, {});
  w.out = matrix(s.hidden_size, s.v_dim(), n.out, n.out_tiles);
  w.conv = n.conv;
  w.A_log = n.A_log;
  w.dt_bias = n.dt_bias;
  w.norm = n.norm;
  return w;
}

}  // namespace gdn
