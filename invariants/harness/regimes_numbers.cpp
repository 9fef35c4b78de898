// The numbers of a drawn case: knobs of its recipe, and edges put into explicit arrays.
#include <algorithm>
#include <bit>
#include <limits>

#include "invariants/harness/regimes_parts.h"

namespace gdn {
namespace {

bool has_gates(const Case& c) { return c.subject == Subject::layer || c.subject == Subject::gates; }

bool decays(const Case& c) {
  return has_gates(c) || c.subject == Subject::delta_rule || c.subject == Subject::recurrent;
}

bool projects(const Case& c) {
  return c.subject == Subject::layer || c.subject == Subject::in_proj ||
         c.subject == Subject::out_proj;
}

void draw_memory(Case& c, Rng& rng) {
  if (!decays(c)) return;
  constexpr int64_t horizons[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
  c.recipe.horizon_tokens = one_of(rng, horizons);
  // Saturated betas are exactly 0 and 1; beyond +-16 float32 rounds 1 - beta away, or nearly.
  constexpr int64_t logits[] = {-100, -20, -17, -16, -8, -2, 2, 8, 16, 17, 20, 100};
  if (in_100(rng, 35)) c.recipe.beta_logit = one_of(rng, logits);
  const bool takes_beta = c.subject == Subject::recurrent || c.subject == Subject::delta_rule;
  if (takes_beta && in_100(rng, 15)) c.recipe.beta_factor = 2;
  if (has_gates(c) && in_100(rng, 8)) c.recipe.A_log = rng.range(-30, 12);
  if (has_gates(c) && in_100(rng, 8)) c.recipe.dt_bias = rng.range(-30, 30);
}

void draw_structure(Case& c, Rng& rng) {
  Recipe& r = c.recipe;
  if (in_100(rng, 30)) r.coherence_16ths = in_100(rng, 40) ? 16 : rng.range(1, 15);
  if (in_100(rng, 8)) r.zero_16ths = rng.range(1, 16);
  if (in_100(rng, 8)) {
    constexpr int64_t bits[] = {1, 8, 20, 23, 24};
    r.cancelling_bits = one_of(rng, bits);
  }
  constexpr Pattern structured[] = {Pattern::dyadic, Pattern::equal, Pattern::one_hot,
                                    Pattern::zero};
  if (in_100(rng, 12)) r.pattern = static_cast<int64_t>(one_of(rng, structured));
  if (projects(c) && in_100(rng, 8)) {
    r.weight_pattern = static_cast<int64_t>(one_of(rng, structured));
  }
}

// Norms from one end of float32 to the other. Below, results are tiny or zero and have to be so;
// above, where squares overflow from 2^64 on, little is determined and it says little to try often.
void draw_magnitudes(Case& c, Rng& rng) {
  Recipe& r = c.recipe;
  constexpr int64_t tiny[] = {-140, -100, -75, -64, -30, -10};
  constexpr int64_t large[] = {6, 10, 10, 20, 30};
  constexpr int64_t huge[] = {60, 64, 75, 100};
  const auto exponent = [&] {
    if (in_100(rng, 55)) return one_of(rng, tiny);
    return in_100(rng, 92) ? one_of(rng, large) : one_of(rng, huge);
  };
  if (in_100(rng, 14)) r.input_exponent = exponent();
  if (in_100(rng, 6)) r.exponent_spread = in_100(rng, 85) ? rng.range(1, 12) : rng.range(13, 40);
  if (!projects(c)) return;
  // 4-bit scales are f16: subnormal below 2^-14, zero below 2^-25, infinite from 2^16 on.
  constexpr int64_t of_scales[] = {-28, -24, -20, -14, -10, 6, 10, 14};
  if (in_100(rng, c.weights == Weights::q4 ? 30 : 8)) {
    r.weight_exponent = c.weights == Weights::q4 ? one_of(rng, of_scales) : exponent();
  }
}

// A few numbers at the ends of float32 among ordinary ones say more than arrays of them: the rest
// of the output still has to be right.
void draw_edges(Case& c, Rng& rng) {
  Recipe& r = c.recipe;
  constexpr int64_t shares[] = {1, 4, 16, 64};
  if (in_100(rng, 8)) r.tiny_64ths = one_of(rng, shares);
  if (in_100(rng, 2)) r.extreme_64ths = in_100(rng, 75) ? 1 : 4;
  constexpr Pattern by_bits[] = {Pattern::subnormal, Pattern::subnormal,  Pattern::subnormal,
                                 Pattern::subnormal, Pattern::any_finite, Pattern::any_bits};
  if (in_100(rng, 2)) r.pattern = static_cast<int64_t>(one_of(rng, by_bits));
  const bool tiled = c.subject == Subject::dequant || (projects(c) && c.weights == Weights::q4);
  if (tiled && in_100(rng, c.subject == Subject::dequant ? 60 : 25)) {
    r.weight_pattern =
        static_cast<int64_t>(in_100(rng, 75) ? Pattern::any_finite : Pattern::any_bits);
  } else if (projects(c) && in_100(rng, 2)) {
    r.weight_pattern = static_cast<int64_t>(one_of(rng, by_bits));
  }
}

float next_to(float x, bool above) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(above ? bits + 1 : bits - 1);
}

// a + dt_bias exactly at an edge, head by head: the whole of it comes from dt_bias.
void put_gate_edges(Case& c, Rng& rng) {
  const auto heads = static_cast<size_t>(c.shape.num_v_heads);
  std::vector<float> edges;
  for (size_t head = 0; head < heads; ++head) {
    const std::span<const float> all = gate_edges();
    edges.push_back(all[static_cast<size_t>(rng.range(0, static_cast<int64_t>(all.size()) - 1))]);
  }
  const size_t of_a =
      c.subject == Subject::gates ? heads : heads * static_cast<size_t>(c.shape.hidden_size);
  c = c.with_numbers("dt_bias", edges).with_numbers("a", std::vector<float>(of_a, 0.0F));
}

// One number of a small array by its bits, the others as they were drawn.
void put_bits(Case& c, Rng& rng, const std::string& name, std::vector<float> drawn) {
  if (drawn.empty() || drawn.size() > 256) return;
  constexpr uint32_t edges[] = {0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001, 0x80000000};
  const auto at = static_cast<size_t>(rng.range(0, static_cast<int64_t>(drawn.size()) - 1));
  const uint32_t bits = in_100(rng, 70) ? one_of(rng, edges) : static_cast<uint32_t>(rng.next());
  drawn[at] = std::bit_cast<float>(bits);
  c = c.with_numbers(name, drawn);
}

void put_bits(Case& c, Rng& rng) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers || c.subject == Subject::dequant) return;
  if (c.subject != Subject::layer) {
    const auto& arrays = numbers->arrays;
    auto found = arrays.begin();
    std::advance(found, rng.range(0, static_cast<int64_t>(arrays.size()) - 1));
    return put_bits(c, rng, found->first, found->second);
  }
  const LayerNumbers& n = numbers->layers.front();
  const std::pair<const char*, const std::vector<float>*> small[] = {
      {"norm", &n.norm}, {"A_log", &n.A_log}, {"dt_bias", &n.dt_bias}, {"conv", &n.conv}};
  const auto& [name, drawn] = one_of(rng, small);
  put_bits(c, rng, name, *drawn);
}

}  // namespace

std::span<const float> gate_edges() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  // exp leaves float32 at 88.72 and its subnormals at -103.97; at 20 softplus becomes its argument.
  static const float edges[] = {0.0F,
                                -0.0F,
                                20.0F,
                                next_to(20.0F, true),
                                next_to(20.0F, false),
                                -20.0F,
                                next_to(-20.0F, true),
                                next_to(-20.0F, false),
                                88.8F,
                                -88.8F,
                                104.0F,
                                -104.0F,
                                1e4F,
                                -1e4F,
                                inf,
                                -inf,
                                nan};
  return edges;
}

void draw_numbers(Case& c, Rng& rng) {
  draw_memory(c, rng);
  draw_structure(c, rng);
  draw_magnitudes(c, rng);
  draw_edges(c, rng);
  if (has_gates(c) && in_100(rng, c.subject == Subject::gates ? 40 : 10)) put_gate_edges(c, rng);
  if (in_100(rng, 4)) put_bits(c, rng);
}

}  // namespace gdn
