// 4-bit weights: scales by bit pattern, codes, tails, under float32 and q8_0 activations. An input
// gives its numbers in full, so that a change is one scale, one code or one activation.
#include "fuzz/case_target.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// A few whole tiles, or a row of tiles that shows every tail.
constexpr int64_t blocks_max = 16;

bool serves(const Case& c) {
  const bool decodes = c.subject == Subject::dequant;
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  const bool is_q4 = decodes || (projects && c.weights == Weights::q4);
  const int64_t blocks = c.cols / q4_block_weights;
  const bool small = blocks <= blocks_max && c.rows <= 4 * q4_tile_rows &&
                     (c.rows == q4_tile_rows || c.rows * blocks <= blocks_max);
  return is_q4 && small && c.calls.empty() && c.tokens == 0;
}

Case draw_served(Rng& rng) {
  Case c;
  constexpr Subject subjects[] = {Subject::dequant, Subject::in_proj, Subject::out_proj};
  c.subject = one_of(rng, subjects);
  c.seed = rng.next();
  // What q8_0 activations need of an engine's own projections.
  c.shape = {.hidden_size = 32,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 32,
             .conv_kernel = 1};
  c.rows = q4_tile_rows;
  c.cols = q4_block_weights;
  if (c.subject != Subject::dequant) {
    c.weights = Weights::q4;
    if (rng.range(0, 1) == 0) c.dialect.activation = Dialect::Activation::q8_0;
  }
  c.recipe.weight_pattern = static_cast<int64_t>(Pattern::any_finite);
  for (int64_t count = rng.range(4, 12); count > 0; --count) {
    Case other = c;
    one_of(rng, this_target.changes)(other, rng);
    if (why_invalid(other).empty() && serves(other)) c = std::move(other);
  }
  return c;
}

}  // namespace

const CaseTarget this_target{
    .about = "scales, codes and tails of 4-bit weights",
    .serves = serves,
    .draw = draw_served,
    .engines = {"twin"},
    .invariants = {"operators_within_bound"},
    .changes = {change_scale, change_scale, change_scale, change_scale, change_codes, change_codes,
                change_codes, change_activations, change_activations, change_activations,
                change_tile_counts, change_projection}};

}  // namespace gdn
