// Drawing numbers. Every step is an integer operation, a float32 sum or product that IEEE fixes, or
// a change of exponent, so that a seed gives the same bits on any machine, for ever.
#ifdef __FAST_MATH__
#error "the values of a case need IEEE arithmetic: build without fast math"
#endif

#include "reference/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdn {
namespace {

constexpr Knob all_knobs[] = {
    {"pattern", &Recipe::pattern, 0, pattern_count - 1},
    {"weight_pattern", &Recipe::weight_pattern, 0, pattern_count - 1},
    {"input_exponent", &Recipe::input_exponent, -160, 160},
    {"weight_exponent", &Recipe::weight_exponent, -160, 160},
    {"exponent_spread", &Recipe::exponent_spread, 0, 140},
    {"horizon_tokens", &Recipe::horizon_tokens, 1, 100'000'000},
    {"coherence_16ths", &Recipe::coherence_16ths, 0, 16},
    {"zero_16ths", &Recipe::zero_16ths, 0, 16},
    {"beta_logit", &Recipe::beta_logit, -100, 100},
    {"A_log", &Recipe::A_log, -1000, 1000},
    {"dt_bias", &Recipe::dt_bias, -1000, 1000},
    {"beta_factor", &Recipe::beta_factor, 1, 2},
    {"cancelling_bits", &Recipe::cancelling_bits, 0, 24},
    {"tiny_64ths", &Recipe::tiny_64ths, 0, 64},
    {"extreme_64ths", &Recipe::extreme_64ths, 0, 64},
};

// log2(e) and ln 2, as the nearest float32.
constexpr float log2_e = 0x1.715476p+0F;
constexpr float ln_2 = 0x1.62e430p-1F;

// x 2^exponent. A power that is a normal number is multiplied by: the same bits, sooner.
float scaled(float x, int64_t exponent) {
  if (exponent < -126 || exponent > 127) return std::ldexp(x, static_cast<int>(exponent));
  return x * std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

bool takes_exponent(Pattern pattern) {
  return pattern != Pattern::subnormal && pattern != Pattern::any_finite &&
         pattern != Pattern::any_bits;
}

float draw_one(Rng& rng, Pattern pattern, int64_t index, int64_t hot_index) {
  switch (pattern) {
    case Pattern::smooth:
      return rng.signed_unit();
    case Pattern::dyadic:
      return static_cast<float>(rng.range(-8, 8)) / 8;
    case Pattern::equal:
      return 1;
    case Pattern::one_hot:
      return index == hot_index ? 1 : 0;
    case Pattern::zero:
      return 0;
    case Pattern::subnormal:
      return std::bit_cast<float>(static_cast<uint32_t>(rng.next()) & 0x807FFFFFU);
    case Pattern::any_finite: {
      const uint32_t bits = static_cast<uint32_t>(rng.next());
      const bool finite = (bits & 0x7F800000U) != 0x7F800000U;
      return std::bit_cast<float>(finite ? bits : bits & 0xBFFFFFFFU);
    }
    case Pattern::any_bits:
      return std::bit_cast<float>(static_cast<uint32_t>(rng.next()));
  }
  return 0;
}

// Where float32 changes its ways at its lower end: a zero of either sign, the smallest and the
// largest subnormal, the smallest normal number and what follows it; and any subnormal.
uint32_t draw_tiny(Rng& rng) {
  constexpr uint32_t edges[] = {0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00800001};
  const auto which = static_cast<size_t>(rng.range(0, static_cast<int64_t>(std::size(edges))));
  const uint32_t sign = static_cast<uint32_t>(rng.next()) & 0x80000000U;
  if (which == std::size(edges)) return sign | (static_cast<uint32_t>(rng.next()) & 0x007FFFFFU);
  return sign | edges[which];
}

// And at its upper end: the largest power of two and the largest number, infinity, a quiet and a
// signalling NaN; and any bits.
uint32_t draw_extreme(Rng& rng) {
  constexpr uint32_t edges[] = {0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001};
  const auto which = static_cast<size_t>(rng.range(0, static_cast<int64_t>(std::size(edges))));
  const uint32_t bits = static_cast<uint32_t>(rng.next());
  return which == std::size(edges) ? bits : (bits & 0x80000000U) | edges[which];
}

void put_edges(const Recipe& recipe, const Rng& rng, std::span<float> numbers) {
  Rng tiny = rng.stream("tiny");
  Rng extreme = rng.stream("extreme");
  for (float& x : numbers) {
    if (recipe.tiny_64ths > 0 && tiny.range(1, 64) <= recipe.tiny_64ths) {
      x = std::bit_cast<float>(draw_tiny(tiny));
    }
    if (recipe.extreme_64ths > 0 && extreme.range(1, 64) <= recipe.extreme_64ths) {
      x = std::bit_cast<float>(draw_extreme(extreme));
    }
  }
}

// log(n) for n >= 1, within 0.06: the mantissa's logarithm is taken as linear.
float log_steps(int64_t n) {
  const int64_t whole = floor_log2(n);
  const float mantissa = scaled(static_cast<float>(n), -whole) - 1;
  return (static_cast<float>(whole) + mantissa) * ln_2;
}

}  // namespace

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::smooth:
      return "smooth";
    case Pattern::dyadic:
      return "dyadic";
    case Pattern::equal:
      return "equal";
    case Pattern::one_hot:
      return "one_hot";
    case Pattern::zero:
      return "zero";
    case Pattern::subnormal:
      return "subnormal";
    case Pattern::any_finite:
      return "any_finite";
    case Pattern::any_bits:
      return "any_bits";
  }
  return "unknown";
}

std::span<const Knob> knobs() { return all_knobs; }

int64_t floor_log2(int64_t n) { return std::bit_width(static_cast<uint64_t>(n)) - 1; }

float exp2_steps(float x) {
  const float bounded = std::clamp(x, -200.0F, 200.0F);
  const int64_t truncated = static_cast<int64_t>(bounded);
  const int64_t whole = static_cast<float>(truncated) > bounded ? truncated - 1 : truncated;
  return scaled(1 + (bounded - static_cast<float>(whole)), whole);
}

std::vector<float> draw(Rng rng, Pattern pattern, int64_t count, int64_t exponent) {
  std::vector<float> numbers(static_cast<size_t>(count));
  const int64_t hot_index = count > 0 ? rng.range(0, count - 1) : 0;
  const int64_t power = takes_exponent(pattern) ? exponent : 0;
  for (int64_t i = 0; i < count; ++i) {
    numbers[static_cast<size_t>(i)] = scaled(draw_one(rng, pattern, i, hot_index), power);
  }
  return numbers;
}

std::vector<float> draw_input(const Recipe& recipe, const Rng& rng, int64_t count, int64_t token) {
  const Pattern pattern = static_cast<Pattern>(recipe.pattern);
  const Rng own = rng.stream("token " + std::to_string(token));
  std::vector<float> numbers = draw(own, pattern, count, recipe.input_exponent);
  if (!takes_exponent(pattern)) {
    put_edges(recipe, own, numbers);
    return numbers;
  }
  const std::vector<float> common =
      draw(rng.stream("common"), pattern, count, recipe.input_exponent);
  const float share = static_cast<float>(recipe.coherence_16ths) / 16;
  Rng zeros = own.stream("zeros");
  Rng spread = own.stream("spread");
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = share * common[i] + (1 - share) * numbers[i];
    if (recipe.exponent_spread > 0) {
      numbers[i] =
          scaled(numbers[i], spread.range(-recipe.exponent_spread, recipe.exponent_spread));
    }
    if (recipe.zero_16ths > 0 && zeros.range(1, 16) <= recipe.zero_16ths) numbers[i] = 0;
    if (recipe.cancelling_bits > 0 && i % 2 == 1) numbers[i] = numbers[i - 1];
  }
  put_edges(recipe, own, numbers);
  return numbers;
}

std::vector<float> draw_matrix(const Recipe& recipe, Rng rng, int64_t rows, int64_t cols) {
  // Half of log2(cols), so that the norm of a row stays about the same whatever its length.
  const int64_t half_log2 = floor_log2(std::max<int64_t>(1, cols)) / 2;
  std::vector<float> numbers = draw(rng, static_cast<Pattern>(recipe.weight_pattern), rows * cols,
                                    recipe.weight_exponent - half_log2);
  oppose_pairs(recipe, numbers, cols);
  return numbers;
}

void oppose_pairs(const Recipe& recipe, std::span<float> numbers, int64_t cols) {
  if (recipe.cancelling_bits == 0) return;
  const auto width = static_cast<size_t>(cols);
  for (size_t i = 1; i < numbers.size(); ++i) {
    if (i % width % 2 == 0) continue;
    numbers[i] = -(numbers[i - 1] + scaled(numbers[i - 1], -recipe.cancelling_bits));
  }
}

std::vector<float> draw_A_log(const Recipe& recipe, Rng rng, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  // -log(horizon) - log(softplus(0)), and softplus(0) = ln 2 has the logarithm -0.3665.
  const float middle = 0.3665F - log_steps(recipe.horizon_tokens);
  for (float& x : numbers) {
    x = middle + rng.signed_unit() / 2 + static_cast<float>(recipe.A_log);
  }
  return numbers;
}

std::vector<float> draw_dt_bias(const Recipe& recipe, Rng rng, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = rng.signed_unit() / 4 + static_cast<float>(recipe.dt_bias);
  return numbers;
}

std::vector<float> draw_log_decay(const Recipe& recipe, Rng rng, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  // From a half to three halves of 1/horizon; the division is one rounding that IEEE fixes.
  for (float& x : numbers) x = -(0.5F + rng.unit()) / static_cast<float>(recipe.horizon_tokens);
  return numbers;
}

std::vector<float> draw_beta(const Recipe& recipe, Rng rng, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) {
    const float logit = static_cast<float>(recipe.beta_logit) + rng.signed_unit();
    x = static_cast<float>(recipe.beta_factor) / (1 + exp2_steps(-logit * log2_e));
  }
  return numbers;
}

}  // namespace gdn
