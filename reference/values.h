// How the numbers of a case are drawn: a recipe of whole numbers, and arrays that are a pure
// function of recipe, seed and name. Integer arithmetic and exact float steps alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/rng.h"

namespace gdn {

// What kind of numbers an array holds, before its exponent.
enum class Pattern : uint8_t {
  smooth,      // uniform in [-1, 1)
  dyadic,      // multiples of 1/8 in [-1, 1]: short sums and products are exact
  equal,       // all 1: every structure that depends on position is hidden, every sum is coherent
  one_hot,     // one 1, the rest 0
  zero,        // all 0
  subnormal,   // any subnormal; the exponent is not applied
  any_finite,  // any finite bit pattern; the exponent is not applied
  any_bits,    // any bit pattern, NaN and infinities among them; the exponent is not applied
};
inline constexpr int pattern_count = 8;
std::string_view name_of(Pattern pattern);

struct Recipe {
  int64_t pattern = 0;          // of inputs (h, or an operator's own): a Pattern
  int64_t weight_pattern = 0;   // of the projections: a Pattern
  int64_t input_exponent = 0;   // inputs are multiplied by 2^this
  int64_t weight_exponent = 0;  // rows of projections have a norm of about 2^this
  int64_t exponent_spread = 0;  // inputs also by 2^e, e from -this to this
  int64_t horizon_tokens = 8;   // how many tokens the state remembers: 1/|g|, about
  int64_t coherence_16ths = 0;  // share of every token that all tokens have in common
  int64_t zero_16ths = 0;       // share of inputs that are 0
  int64_t beta_logit = 0;       // b lies about this: beta near 0, 1/2 or 1
  int64_t A_log = 0;            // added to A_log, without compensation
  int64_t dt_bias = 0;          // added to dt_bias, without compensation
  int64_t beta_factor = 1;      // betas of the recurrence alone are multiplied by this
  int64_t cancelling_bits = 0;  // above 0: sums of products cancel but for their last bits
  int64_t tiny_64ths = 0;       // share of inputs that are subnormal, a zero or nearly one
  int64_t extreme_64ths = 0;    // share of inputs that are huge, infinite, NaN or any bits

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

// The knobs by name, with what they may be; `pattern` and `weight_pattern` are spelled by name.
struct Knob {
  std::string_view name;
  int64_t Recipe::*member;
  int64_t low, high;
};
std::span<const Knob> knobs();

// `count` numbers of `pattern`, times 2^exponent where the pattern takes one.
std::vector<float> draw(Rng rng, Pattern pattern, int64_t count, int64_t exponent);

// An input array: the recipe's pattern, exponent, spread, zeros and edges. `token` parts the tokens
// of a sequence, which share `coherence_16ths` of their values. Where sums are to cancel, the
// second of each pair repeats the first.
std::vector<float> draw_input(const Recipe& recipe, const Rng& rng, int64_t count, int64_t token);

// A row-major [rows, cols] matrix whose rows have a norm of about 2^weight_exponent.
std::vector<float> draw_matrix(const Recipe& recipe, Rng rng, int64_t rows, int64_t cols);

// Where sums are to cancel: in each row of `cols` the second of each pair becomes minus the first,
// larger by a factor of 1 + 2^-cancelling_bits.
void oppose_pairs(const Recipe& recipe, std::span<float> numbers, int64_t cols);

// A_log such that exp(A_log) softplus(0) is about 1/horizon_tokens, spread over a factor of e.
std::vector<float> draw_A_log(const Recipe& recipe, Rng rng, int64_t count);
std::vector<float> draw_dt_bias(const Recipe& recipe, Rng rng, int64_t count);

// For the recurrence on its own: log decays of about -1/horizon_tokens, betas about
// beta_factor sigmoid(beta_logit), keys and queries of norm about 1.
std::vector<float> draw_log_decay(const Recipe& recipe, Rng rng, int64_t count);
std::vector<float> draw_beta(const Recipe& recipe, Rng rng, int64_t count);

// floor(log2 n) for n >= 1, and a piecewise linear 2^x: exact float steps, no libm.
int64_t floor_log2(int64_t n);
float exp2_steps(float x);

}  // namespace gdn
