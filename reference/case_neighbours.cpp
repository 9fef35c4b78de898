// What a shrinker tries next: the large steps first. Every step leaves fewer calls, tokens or
// numbers, or a value nearer to its default, so that any walk comes to an end.
#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <utility>

#include "reference/case.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// Up to as many calls or numbers each is tried on its own.
constexpr size_t tried_singly_max = 32;

using Extents = std::vector<int64_t>;

int64_t count_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// Of a q4_tile matrix in words: rows of tiles, tiles of a row, words of a tile.
Extents extents_of_tiles(const Case& c, int64_t rows, int64_t cols) {
  const bool tiled = c.subject == Subject::dequant || c.weights == Weights::q4;
  if (!tiled) return {0, 0, 0};
  return {rows / q4_tile_rows, cols / q4_block_weights, q4_tile_bytes / 4};
}

Extents extents_in_layer(const Case& c, std::string_view name) {
  const Shape& s = c.shape;
  if (name == "h") return {c.tokens, s.hidden_size};
  if (name == "qkv_tiles") return extents_of_tiles(c, s.conv_dim(), s.hidden_size);
  if (name == "z_tiles") return extents_of_tiles(c, s.v_dim(), s.hidden_size);
  if (name == "out_tiles") return extents_of_tiles(c, s.hidden_size, s.v_dim());
  if (name == "qkv") return {s.conv_dim(), s.hidden_size};
  if (name == "z") return {s.num_v_heads, s.head_v_dim, s.hidden_size};
  if (name == "out") return {s.hidden_size, s.num_v_heads, s.head_v_dim};
  if (name == "b" || name == "a") return {s.num_v_heads, s.hidden_size};
  if (name == "conv") return {s.conv_dim(), s.conv_kernel};
  if (name == "norm") return {s.head_v_dim};
  return {s.num_v_heads};  // A_log, dt_bias
}

// The extents of an array by the name under which a case gives its numbers; {0} where it has none.
Extents extents_of(const Case& c, std::string_view name) {
  const Shape& s = c.shape;
  const int64_t tokens = c.subject == Subject::recurrent ? c.tokens : 1;
  const Dialect::Decay decay = c.dialect.decay;
  switch (c.subject) {
    case Subject::layer:
      return extents_in_layer(c, name.substr(0, name.find('@')));
    case Subject::in_proj:
    case Subject::out_proj:
      if (name == "tiles") return extents_of_tiles(c, c.rows, c.cols);
      return name == "weight" ? Extents{c.rows, c.cols} : Extents{c.cols};
    case Subject::gates:
      return {s.num_v_heads};
    case Subject::conv:
      if (name == "weight") return {s.conv_dim(), s.conv_kernel};
      return name == "hist" ? Extents{s.conv_kernel - 1, s.conv_dim()} : Extents{s.conv_dim()};
    case Subject::gated_norm:
      return name == "weight" ? Extents{s.head_v_dim} : Extents{s.num_v_heads, s.head_v_dim};
    case Subject::qk_norm:
    case Subject::delta_rule:
    case Subject::recurrent:
      if (name == "q" || name == "k") return {tokens, s.num_k_heads, s.head_k_dim};
      if (name == "v") return {tokens, s.num_v_heads, s.head_v_dim};
      if (name == "S") return {c.pool.states, s.num_v_heads, s.head_k_dim, s.head_v_dim};
      if (name == "g" && decay == Dialect::Decay::per_channel) return {0};
      if (name == "gk" && decay == Dialect::Decay::per_head) return {0};
      if (name == "gk" && decay != Dialect::Decay::second_scalar) {
        return {tokens, s.num_v_heads, s.head_k_dim};
      }
      return {tokens, s.num_v_heads};
    case Subject::dequant:
      return name == "tiles" ? extents_of_tiles(c, c.rows, c.cols) : Extents{0};
  }
  return {0};
}

// The part of an array that both extents have.
std::vector<uint32_t> cut_to(const std::vector<uint32_t>& bits, const Extents& was,
                             const Extents& now) {
  std::vector<uint32_t> kept;
  const int64_t count = count_of(now);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    int64_t rest = i;
    int64_t stride = 1;
    for (size_t d = now.size(); d-- > 0; rest /= now[d], stride *= was[d]) {
      at += rest % now[d] * stride;
    }
    kept.push_back(bits[static_cast<size_t>(at)]);
  }
  return kept;
}

// The layer whose array a name is; 0 where it names none.
int64_t layer_of(std::string_view name) {
  const size_t at = std::min(name.find('@'), name.size() - 1);
  int64_t layer = 0;
  std::from_chars(name.data() + at + 1, name.data() + name.size(), layer);
  return layer;
}

// Numbers that `c` gives in full stay given in a case of smaller extents, those that still fit.
void cut_numbers(const Case& c, Case& other) {
  std::map<std::string, std::vector<uint32_t>> kept;
  for (const auto& [name, bits] : other.numbers) {
    const Extents was = extents_of(c, name);
    const Extents now = extents_of(other, name);
    const bool smaller = was.size() == now.size() &&
                         std::equal(now.begin(), now.end(), was.begin(), std::less_equal<>());
    const bool whole = count_of(was) == static_cast<int64_t>(bits.size());
    if (!whole || !smaller || count_of(now) == 0) continue;
    if (layer_of(name) < other.shape.num_layers) kept[name] = cut_to(bits, was, now);
  }
  other.numbers = std::move(kept);
}

class Neighbourhood {
 public:
  explicit Neighbourhood(const Case& c) : c_(c) {}

  std::vector<Case> all() && {
    fewer_calls();
    fewer_tokens();
    dimensions();
    simpler_calls();
    recipe();
    numbers();
    layout_and_conventions();
    if (c_.seed > 1) offer([](Case& other) { other.seed = 1; });
    return std::move(near_);
  }

 private:
  // The case with one change, if that makes a valid one.
  template <class Change>
  void offer(Change change) {
    Case other = c_;
    change(other);
    if (!other.numbers.empty()) cut_numbers(c_, other);
    if (why_invalid(other).empty()) near_.push_back(std::move(other));
  }

  // All of them; halves; then ever smaller pieces, as delta debugging does.
  void fewer_calls() {
    const size_t count = c_.calls.size();
    if (count > 0) offer([](Case& other) { other.calls.clear(); });
    for (size_t piece = (count + 1) / 2; piece > 0 && count > 1; piece /= 2) {
      for (size_t begin = 0; begin < count; begin += piece) {
        offer([&](Case& other) {
          const auto from = other.calls.begin() + static_cast<std::ptrdiff_t>(begin);
          const size_t end = std::min(count, begin + piece);
          other.calls.erase(from, other.calls.begin() + static_cast<std::ptrdiff_t>(end));
        });
      }
      if (count > 2 * tried_singly_max) break;
    }
  }

  // Each call with fewer tokens, or with something left to its default.
  void simpler_calls() {
    if (c_.calls.size() > 2 * tried_singly_max) return;
    for (size_t i = 0; i < c_.calls.size(); ++i) {
      const Call& call = c_.calls[i];
      for (const auto& [argument, value] : call.given) {
        const Argument which = argument;
        if (value == rule_of(argument).unless_given) continue;
        if (argument == Argument::tokens && value > 2) {
          for (const int64_t fewer : {value / 2, value - 1}) {
            offer([&](Case& other) { other.calls[i].given[which] = fewer; });
          }
        }
        offer([&](Case& other) { other.calls[i].given.erase(which); });
      }
      if (!call.omit.empty()) offer([i](Case& other) { other.calls[i].omit.clear(); });
      if (call.reads.size() > 1) offer([i](Case& other) { other.calls[i].reads.clear(); });
      for (const Tensor tensor : call.reads) {
        offer([&](Case& other) { other.calls[i].reads.erase(tensor); });
      }
      const bool lists = !call.lengths.empty() || !call.slots.empty() || !call.accepted.empty() ||
                         !call.from_zero.empty();
      if (!lists) continue;
      offer([i](Case& other) {
        Call& plain = other.calls[i];
        plain.lengths = plain.slots = plain.accepted = plain.from_zero = {};
      });
      simpler_lists(i);
    }
  }

  // Without one of the lists of a call of recurrent, without its last sequence, or with a number
  // nearer to 0.
  void simpler_lists(size_t i) {
    for (const auto list : {&Call::lengths, &Call::slots, &Call::accepted, &Call::from_zero}) {
      const std::vector<int64_t>& now = c_.calls[i].*list;
      if (now.empty()) continue;
      offer([&](Case& other) { (other.calls[i].*list).clear(); });
      offer([&](Case& other) { (other.calls[i].*list).pop_back(); });
      for (size_t n = 0; n < std::min(now.size(), tried_singly_max); ++n) {
        if (now[n] == 0) continue;
        offer([&](Case& other) { (other.calls[i].*list)[n] /= 2; });
      }
    }
    offer([i](Case& other) {
      for (const auto list : {&Call::lengths, &Call::slots, &Call::accepted, &Call::from_zero}) {
        if (!(other.calls[i].*list).empty()) (other.calls[i].*list).pop_back();
      }
    });
  }

  void fewer_tokens() {
    for (const int64_t fewer : {int64_t{1}, c_.tokens / 2, c_.tokens - 1}) {
      if (fewer < 1 || fewer >= c_.tokens) continue;
      offer([&](Case& other) { other.tokens = fewer; });
    }
  }

  void dimensions() {
    int64_t Shape::*const dimensions[] = {
        &Shape::hidden_size, &Shape::num_k_heads, &Shape::head_k_dim, &Shape::num_v_heads,
        &Shape::head_v_dim,  &Shape::conv_kernel, &Shape::num_layers};
    for (int64_t Shape::*const dimension : dimensions) {
      const int64_t now = c_.shape.*dimension;
      for (const int64_t smaller : {int64_t{1}, now / 2, now - 1}) {
        if (smaller < 1 || smaller >= now) continue;
        offer([&](Case& other) { other.shape.*dimension = smaller; });
      }
    }
    // As many heads of each kind fewer.
    const int64_t ratio = c_.shape.v_heads_per_k_head();
    for (const int64_t fewer : {int64_t{1}, c_.shape.num_k_heads - 1}) {
      if (fewer < 1 || fewer >= c_.shape.num_k_heads) continue;
      offer([&](Case& other) {
        other.shape.num_k_heads = fewer;
        other.shape.num_v_heads = fewer * ratio;
      });
    }
    // One head of as many channels, where tiles ask for as many rows.
    if (c_.shape.num_k_heads == 1 && c_.shape.num_v_heads > 1) {
      offer(
          [](Case& other) { other.shape.head_v_dim *= std::exchange(other.shape.num_v_heads, 1); });
    }
    // 4 and 32 are what 4-bit tiles allow.
    for (int64_t Case::*const dimension : {&Case::rows, &Case::cols}) {
      const int64_t now = c_.*dimension;
      for (const int64_t smaller :
           {int64_t{1}, int64_t{4}, int64_t{32}, now / 2, now - 1, now - 4, now - 32}) {
        if (smaller < 1 || smaller >= now) continue;
        offer([&](Case& other) { other.*dimension = smaller; });
      }
    }
  }

  void recipe() {
    for (const Knob& knob : knobs()) {
      const int64_t usual = Recipe{}.*knob.member;
      const int64_t now = c_.recipe.*knob.member;
      if (now == usual) continue;
      offer([&](Case& other) { other.recipe.*knob.member = usual; });
      const bool is_name =
          knob.member == &Recipe::pattern || knob.member == &Recipe::weight_pattern;
      const int64_t nearer = usual + (now - usual) / 2;
      if (is_name || nearer == usual) continue;
      offer([&](Case& other) { other.recipe.*knob.member = nearer; });
    }
  }

  // Without an array; with zeros in its first or its second half; with zeros in place of each
  // number, or of each of as many pieces.
  void numbers() {
    for (const auto& [array, given] : c_.numbers) {
      const std::string& name = array;
      offer([&](Case& other) { other.numbers.erase(name); });
      const size_t count = given.size();
      const auto zero = [&, bits = &given](size_t begin, size_t end) {
        const auto all_zero = [](uint32_t x) { return x == 0; };
        const auto from = bits->begin() + static_cast<std::ptrdiff_t>(begin);
        const auto to = bits->begin() + static_cast<std::ptrdiff_t>(end);
        if (std::all_of(from, to, all_zero)) return;
        offer([&](Case& other) {
          std::vector<uint32_t>& changed = other.numbers[name];
          std::fill(changed.begin() + static_cast<std::ptrdiff_t>(begin),
                    changed.begin() + static_cast<std::ptrdiff_t>(end), 0U);
        });
      };
      zero(0, count / 2);
      zero(count / 2, count);
      const size_t piece = (count + tried_singly_max - 1) / tried_singly_max;
      for (size_t i = 0; i < count; i += piece) zero(i, std::min(count, i + piece));
    }
  }

  void layout_and_conventions() {
    if (!(c_.pool == PoolLayout{})) offer([](Case& other) { other.pool = {}; });
    if (c_.pool.slots > 1) {
      offer([](Case& other) {
        other.pool.slots -= 1;
        other.pool.states = std::min(other.pool.states, other.pool.slots);
      });
    }
    for (int64_t PoolLayout::*const field : {&PoolLayout::offset, &PoolLayout::gap}) {
      if (c_.pool.*field != 0) offer([&](Case& other) { other.pool.*field = 0; });
    }
    if (c_.weights == Weights::q4) offer([](Case& other) { other.weights = Weights::f32; });
    if (!(c_.dialect == Dialect{})) offer([](Case& other) { other.dialect = {}; });
    for (const std::string_view dimension : dialect_dimensions()) {
      const std::string usual = get_dimension(Dialect{}, dimension);
      if (get_dimension(c_.dialect, dimension) == usual) continue;
      offer([&](Case& other) { set_dimension(other.dialect, dimension, usual); });
    }
    for (float Shape::*const eps : {&Shape::rms_norm_eps, &Shape::l2norm_eps}) {
      if (c_.shape.*eps == Shape{}.*eps) continue;
      offer([&](Case& other) { other.shape.*eps = Shape{}.*eps; });
    }
  }

  const Case& c_;
  std::vector<Case> near_;
};

}  // namespace

std::vector<Case> Case::neighbours() const { return Neighbourhood(*this).all(); }

}  // namespace gdn
