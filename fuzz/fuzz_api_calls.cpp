// Sequences of calls, right and wrong ones, against the model of what they do.
#include "fuzz/case_target.h"

namespace gdn {
namespace {

bool serves(const Case& c) {
  return c.subject == Subject::layer && c.shape.hidden_size <= 32 && c.shape.state_count() <= 256 &&
         c.shape.conv_dim() <= 64 && c.shape.num_layers <= 3 && c.tokens <= 8 && !c.calls.empty() &&
         c.calls.size() <= 16;
}

Case draw_served(Rng& rng) {
  Case c;
  c.seed = rng.next();
  c.shape = {.hidden_size = rng.range(1, 8),
             .num_k_heads = 1,
             .head_k_dim = rng.range(1, 4),
             .num_v_heads = rng.range(1, 2),
             .head_v_dim = rng.range(1, 4),
             .conv_kernel = rng.range(1, 3),
             .num_layers = rng.range(1, 2)};
  c.tokens = 4;
  // Whole tiles, so that the pool and its keys are among the calls.
  if (rng.range(0, 3) == 0) {
    c.weights = Weights::q4;
    c.shape.hidden_size = 32;
    c.shape.num_v_heads = 1;
    c.shape.head_v_dim = 32;
    c.shape.head_k_dim = 2 * rng.range(1, 2);
  }
  c.calls = setup_calls(c);
  c.calls.emplace_back();
  return c;
}

}  // namespace

const CaseTarget this_target{
    .about = "sequences of calls against the model of their effects",
    .serves = serves,
    .draw = draw_served,
    .engines = {"twin"},
    .invariants = {"calls_behave_as_modelled", "equal_histories_leave_equal_states"},
    .changes = {change_calls, change_calls, change_calls, change_calls, change_calls, change_calls,
                change_calls, change_calls, change_dimension, change_numbers, change_whole}};

}  // namespace gdn
