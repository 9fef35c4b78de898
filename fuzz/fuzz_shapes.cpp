// Layer and operator shapes, and what goes into them, against the reference.
#include "fuzz/case_target.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

// Small enough for a thousand inputs a second and large enough for two warps, two tiles or a chunk
// boundary, one of them at a time; a head of one operator alone may be wider than a block of
// threads.
bool serves(const Case& c) {
  const Shape& s = c.shape;
  const bool small = s.hidden_size <= 96 && s.state_count() <= 1024 && s.num_layers <= 2 &&
                     s.conv_kernel <= 6 && c.tokens <= 66 && c.rows * c.cols <= 4096 &&
                     s.conv_dim() <= (c.subject == Subject::layer ? 160 : 640) &&
                     c.calls.size() <= 16 && c.pool.slots <= 4 && c.pool.offset <= 64 &&
                     c.pool.gap <= 64;
  return small && c.tokens * (s.state_count() + s.conv_dim() * s.hidden_size) <= int64_t{1} << 13;
}

Case draw_served(Rng& rng) {
  Case c = draw(rng);
  while (!serves(c)) c = draw(rng);
  return c;
}

}  // namespace

const CaseTarget this_target{
    .about = "shapes of layers and operators, and their inputs",
    .serves = serves,
    .draw = draw_served,
    .engines = {"twin", {"simt", 16}},
    .invariants = {"equal_histories_leave_equal_states", "four_bit_equals_its_decoded_weights",
                   "layer_within_bound", "operators_within_bound", "rerun_is_bit_identical"}};

}  // namespace gdn
