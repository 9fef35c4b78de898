// 4-bit weights: scales by bit pattern, codes, tails, under float32 and q8_0 activations.
#include "fuzz/case_target.h"
#include "reference/formats.h"

namespace gdn {
namespace {

constexpr int64_t blocks_max = 16;

bool serves(const Case& c) {
  const bool has_tiles = c.subject == Subject::dequant || c.subject == Subject::in_proj ||
                         c.subject == Subject::out_proj;
  const bool is_q4 = c.subject == Subject::dequant || c.weights == Weights::q4;
  return has_tiles && is_q4 && c.calls.empty() &&
         c.rows * c.cols <= blocks_max * q4_block_weights && c.tokens == 0;
}

Case draw_served(Rng& rng) {
  Case c;
  const Subject subjects[] = {Subject::dequant, Subject::in_proj, Subject::out_proj};
  c.subject = subjects[rng.range(0, 2)];
  c.seed = rng.next();
  c.shape = {.hidden_size = 1,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 1,
             .conv_kernel = 1};
  c.rows = q4_tile_rows;
  c.cols = q4_block_weights * rng.range(1, 4);
  c.recipe.weight_pattern = static_cast<int64_t>(Pattern::any_bits);
  if (c.subject == Subject::dequant) return c;
  c.weights = Weights::q4;
  c.recipe.weight_pattern = rng.range(0, pattern_count - 2);
  if (rng.range(0, 1) == 0) c.dialect.activation = Dialect::Activation::q8_0;
  return serves(c) ? c : draw_served(rng);
}

}  // namespace

const CaseTarget this_target{.about = "scales, codes and tails of 4-bit weights",
                             .serves = serves,
                             .draw = draw_served,
                             .engines = {"twin"},
                             .invariants = {"operators_within_bound"}};

}  // namespace gdn
