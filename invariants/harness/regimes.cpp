// The default mix: which subjects, which shapes, which numbers, how often.
#include "invariants/harness/regimes.h"

#include <algorithm>

namespace gdn {
namespace {

Shape small_shape(Rng& rng) {
  Shape s;
  s.num_k_heads = rng.range(1, 2);
  s.num_v_heads = s.num_k_heads * rng.range(1, 3);
  s.head_k_dim = rng.range(1, 12);
  s.head_v_dim = rng.range(1, 12);
  s.hidden_size = rng.range(1, 16);
  s.conv_kernel = rng.range(1, 5);
  return s;
}

}  // namespace

Case draw(Rng& rng) {
  Case c;
  c.seed = rng.next();
  c.shape = small_shape(rng);
  c.subject = rng.range(0, 1) == 0 ? Subject::layer : static_cast<Subject>(rng.range(1, 9));
  const int64_t kind = rng.range(1, 100);
  if (kind <= large_states_percent) {
    c.shape.num_k_heads = c.shape.num_v_heads = 1;
    c.shape.head_k_dim = c.shape.head_v_dim = 64;
  }
  if (c.subject == Subject::layer) c.shape.num_layers = rng.range(1, 3);
  if (c.subject == Subject::layer || c.subject == Subject::recurrent) c.tokens = rng.range(1, 8);
  if (kind > 80) {
    c.subject = rng.range(0, 2) == 0 ? Subject::recurrent : Subject::layer;
    c.rows = c.cols = 0;
    c.tokens = rng.range(64, 70);
    c.shape.num_layers = 1;
  }
  if (c.subject == Subject::in_proj || c.subject == Subject::out_proj ||
      c.subject == Subject::dequant) {
    c.rows = 4 * rng.range(1, 3);
    c.cols = 32 * rng.range(1, 3);
  }
  constexpr int64_t horizons[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
  c.recipe.horizon_tokens = horizons[rng.range(0, 6)];
  return c;
}

Case draw_case(uint64_t seed, uint64_t index) {
  Rng rng(mix64(mix64(seed) + index));
  return draw(rng);
}

std::vector<std::string> all_regimes() { return {"state>=64x64", "tokens>=64", "horizon>=1000"}; }

std::vector<std::string> regimes_of(const Case& c) {
  std::vector<std::string> names;
  if (c.shape.head_k_dim * c.shape.head_v_dim >= large_state) names.push_back("state>=64x64");
  if (c.tokens >= long_stream_tokens) names.push_back("tokens>=64");
  if (c.recipe.horizon_tokens >= long_horizon_tokens) names.push_back("horizon>=1000");
  return names;
}

}  // namespace gdn
