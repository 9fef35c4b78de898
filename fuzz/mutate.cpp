// Changes by theme: dimensions, recipe, dialect, calls, numbers. Each draws until it is happy or
// gives up; the one in charge is drawn anew for every try.
#include "fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace gdn {
namespace {

// Edges of blocks, warps and chunks, and what lies beside them.
constexpr int64_t telling_counts[] = {1,  2,  3,  4,  5,  7,  8,  9,   12,  16,  17,  31,
                                      32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 255, 257};
// Zeros, ones, the smallest and the largest of each kind, infinities, NaNs; thresholds of the
// gates.
constexpr uint32_t telling_bits[] = {
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x00000001, 0x80000001, 0x007FFFFF,
    0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000,
    0x41A00000, 0x41A00001, 0xC1A00000, 0xC1A00001, 0x42B17218, 0xC2AEAC50, 0xC2D00000};
// Scales that engines may take for another or for none, and ordinary ones.
constexpr float telling_scales[] = {0.0F, 1.0F, -1.0F, 0.25F, 2.0F, 0x1p-126F, 0x1p100F};

int64_t near(int64_t value, Rng& rng) {
  switch (rng.range(0, 4)) {
    case 0:
      return value + 1;
    case 1:
      return value - 1;
    case 2:
      return value > std::numeric_limits<int64_t>::max() / 2 ? value : 2 * value;
    case 3:
      return value / 2;
    default:
      return one_of(rng, telling_counts);
  }
}

}  // namespace

void change_dimension(Case& c, Rng& rng) {
  static constexpr std::array<int64_t Shape::*, 7> dimensions = {
      &Shape::hidden_size, &Shape::num_k_heads, &Shape::head_k_dim, &Shape::num_v_heads,
      &Shape::head_v_dim,  &Shape::conv_kernel, &Shape::num_layers};
  const bool has_matrix = c.rows > 0;
  const int64_t which = rng.range(0, has_matrix ? 9 : 7);
  if (which == 7) {
    c.tokens = near(c.tokens, rng);
  } else if (which > 7) {
    int64_t& dimension = which == 8 ? c.rows : c.cols;
    // Whole tiles, most of the time: anything else is invalid where weights have 4 bits.
    const int64_t unit = rng.range(0, 3) == 0 ? 1 : (which == 8 ? 4 : 32);
    dimension = unit * std::max<int64_t>(1, near(dimension / unit, rng));
  } else {
    int64_t& dimension = c.shape.*dimensions[static_cast<size_t>(which)];
    dimension = near(dimension, rng);
    // The two head counts go together.
    if (which == 1) c.shape.num_v_heads = c.shape.num_k_heads * rng.range(1, 3);
  }
  c.numbers.clear();
}

void change_recipe(Case& c, Rng& rng) {
  const Knob& knob = one_of(rng, knobs());
  int64_t& value = c.recipe.*knob.member;
  switch (rng.range(0, 3)) {
    case 0:
      value = knob.low;
      break;
    case 1:
      value = knob.high;
      break;
    case 2:
      value = rng.range(knob.low, knob.high);
      break;
    default:
      value = near(value, rng);
  }
  value = std::clamp(value, knob.low, knob.high);
}

void change_dialect(Case& c, Rng& rng) {
  const std::string_view dimension = one_of(rng, dialect_dimensions());
  const std::span<const std::string_view> values = dimension_values(dimension);
  if (dimension == "scale" && rng.range(0, 1) == 0) {
    c.dialect.scale = one_of(rng, telling_scales);
    return;
  }
  if (!values.empty()) set_dimension(c.dialect, dimension, one_of(rng, values));
}

namespace {

// An array given in full, so that its elements can be changed one by one.
void spell_out(Case& c, Rng& rng) {
  std::string why;
  std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return;
  constexpr size_t readable_count = 256;
  std::map<std::string, std::vector<float>> arrays = std::move(numbers->arrays);
  if (!numbers->layers.empty()) {
    const LayerNumbers& layer = numbers->layers.front();
    arrays = {{"a", layer.a},         {"b", layer.b},       {"conv", layer.conv},
              {"A_log", layer.A_log}, {"norm", layer.norm}, {"dt_bias", layer.dt_bias}};
    std::vector<float>& h = arrays["h"];
    for (const std::vector<float>& row : numbers->h) h.insert(h.end(), row.begin(), row.end());
  }
  if (!numbers->tiles.empty() && rng.range(0, 1) == 0) {
    if (numbers->tiles.size() > 4 * readable_count) return;
    c.numbers.erase("weight");
    c = c.with_tiles("tiles", numbers->tiles);
    return;
  }
  if (arrays.empty()) return;
  const auto& [name, values] = one_of(rng, arrays);
  if (values.empty() || values.size() > readable_count) return;
  c = c.with_numbers(name, values);
}

}  // namespace

void change_numbers(Case& c, Rng& rng) {
  if (c.numbers.empty() || rng.range(0, 7) == 0) spell_out(c, rng);
  if (c.numbers.empty()) return;
  std::vector<uint32_t>& bits = one_of(rng, c.numbers).second;
  if (bits.empty()) return;
  uint32_t& word = one_of(rng, bits);
  switch (rng.range(0, 3)) {
    case 0:
      word ^= uint32_t{1} << rng.range(0, 31);
      return;
    case 1:
      word = one_of(rng, telling_bits);
      return;
    case 2:
      word = static_cast<uint32_t>(rng.next());
      return;
    default:
      word = one_of(rng, bits);
  }
}

void change_whole(Case& c, Rng& rng) {
  switch (rng.range(0, 3)) {
    case 0:
      c.seed = rng.next();
      return;
    case 1:
      c.weights = c.weights == Weights::q4 ? Weights::f32 : Weights::q4;
      return;
    case 2:
      c.pool = {rng.range(1, 4), rng.range(0, 9), rng.range(0, 9)};
      return;
    default:
      c.subject = static_cast<Subject>(rng.range(0, 9));
  }
  c.rows = c.cols = 0;
  c.numbers.clear();
  c.calls.clear();
  const bool has_matrix = c.subject == Subject::in_proj || c.subject == Subject::out_proj ||
                          c.subject == Subject::dequant;
  if (!has_matrix) return;
  c.rows = 4 * rng.range(1, 4);
  c.cols = 32 * rng.range(1, 4);
}

namespace {

// Few tries, since most changes fit: a target that is about little is asked for more.
constexpr int tries_max = 16;

}  // namespace

std::span<const Change> usual_changes() {
  static constexpr Change changes[] = {
      change_dimension, change_dimension, change_recipe,  change_dialect, change_calls,
      change_calls,     change_calls,     change_numbers, change_numbers, change_whole};
  return changes;
}

Case mutated(const Case& c, Rng& rng, std::span<const Change> changes, const Serves& serves) {
  for (int i = 0; i < tries_max; ++i) {
    Case other = c;
    for (int64_t count = rng.range(1, 3); count > 0; --count) one_of(rng, changes)(other, rng);
    if (why_invalid(other).empty() && serves(other)) return other;
  }
  return c;
}

// The words of one array of `other` in place of as many of the same name.
void splice(Case& child, const Case& other, Rng& rng) {
  auto& [name, words] = one_of(rng, child.numbers);
  const auto found = other.numbers.find(name);
  if (found == other.numbers.end()) return;
  const auto last = static_cast<int64_t>(std::min(words.size(), found->second.size())) - 1;
  if (last < 0) return;
  const int64_t begin = rng.range(0, last);
  const int64_t end = rng.range(begin, last) + 1;
  std::copy(found->second.begin() + begin, found->second.begin() + end, words.begin() + begin);
}

Case crossed(const Case& c, const Case& other, Rng& rng, const Serves& serves) {
  // Calls and recipe only where they are not the same.
  const int64_t first = c.calls.empty() && other.calls.empty() ? 1 : 0;
  for (int i = 0; i < tries_max; ++i) {
    Case child = c;
    switch (rng.range(first, 5)) {
      case 0: {
        const auto kept = static_cast<size_t>(rng.range(0, static_cast<int64_t>(c.calls.size())));
        child.calls.resize(kept);
        child.calls.insert(child.calls.end(), other.calls.begin(), other.calls.end());
        break;
      }
      case 1:
        if (c.recipe == other.recipe) continue;
        child.recipe = other.recipe;
        break;
      case 2:
        child.shape = other.shape;
        child.rows = other.rows;
        child.cols = other.cols;
        child.numbers = other.numbers;
        break;
      case 3:
        child.numbers.insert(other.numbers.begin(), other.numbers.end());
        break;
      default:
        if (child.numbers.empty() || other.numbers.empty()) continue;
        splice(child, other, rng);
    }
    if (why_invalid(child).empty() && serves(child)) return child;
  }
  return c;
}

}  // namespace gdn
