// The recurrence on its own: long horizons, splits of a sequence, layouts and storage.
#include "fuzz/case_target.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

bool serves(const Case& c) {
  const bool is_recurrence = c.subject == Subject::recurrent || c.subject == Subject::delta_rule;
  return is_recurrence && c.shape.state_count() <= 1024 && c.tokens <= 4096 &&
         c.tokens * c.shape.state_count() <= int64_t{1} << 13 && c.calls.size() <= 16 &&
         c.pool.slots <= 4 && c.pool.offset <= 64 && c.pool.gap <= 64;
}

Case draw_served(Rng& rng) {
  Case c = draw(rng);
  c.subject = rng.range(0, 7) == 0 ? Subject::delta_rule : Subject::recurrent;
  c.rows = c.cols = 0;
  c.weights = Weights::f32;
  c.calls.clear();
  c.numbers.clear();
  c.shape.num_k_heads = 1;
  c.shape.num_v_heads = rng.range(1, 3);
  c.shape.head_k_dim = rng.range(1, 8);
  c.shape.head_v_dim = rng.range(1, 8);
  c.tokens = c.subject == Subject::recurrent ? rng.range(1, 256) : 0;
  c.dialect.activation = Dialect::Activation::f32;
  return why_invalid(c).empty() && serves(c) ? c : draw_served(rng);
}

}  // namespace

const CaseTarget this_target{
    .about = "long horizons and splits of the recurrence",
    .serves = serves,
    .draw = draw_served,
    .engines = {"twin", {"simt", 8}},
    .invariants = {"fresh_memory_is_never_read", "half_life_composes", "handles_are_independent",
                   "operators_within_bound", "rerun_is_bit_identical",
                   "scaling_v_by_a_power_of_two_scales_the_recurrence",
                   "state_layout_is_as_it_was_asked", "zero_beta_only_decays"}};

}  // namespace gdn
