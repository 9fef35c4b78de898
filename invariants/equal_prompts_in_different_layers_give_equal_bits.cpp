// Claim:   layers of equal weights that are fed equal tokens give equal bits, wherever they stand.
// Why:     the number of a layer is an address and goes into no formula.
// Bound:   none: equal bits, or NaN in both.
// Origin:  an index that reaches a scale, a seed, or another layer's constants.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.shape.num_layers >= 2 && c.tokens >= 1;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("equal_prompts_in_different_layers");
  const int64_t tokens = rng.range(1, std::min<int64_t>(c.tokens, 4));
  const int64_t first = rng.range(0, c.tokens - tokens);
  std::vector<Call> calls = made::same_weights_setup(c);
  const size_t setup_count = calls.size();
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(layer, first + t));
  }
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;
  const auto of_layer = static_cast<size_t>(tokens);
  for (size_t i = setup_count + of_layer; i < calls.size(); ++i) {
    const size_t token = (i - setup_count) % of_layer;
    const std::string what = "layer " + std::to_string(calls[i].at(Argument::layer)) + ", token " +
                             std::to_string(token) + ", against layer 0";
    all = both(std::move(all), same_bits(what, seen.calls[i], seen.calls[setup_count + token]));
  }
  return all;
}

const Registered self{{.claim = "equal prompts in different layers give equal bits",
                       .applies = applies,
                       .check = check,
                       .kills = {"layer_index_in_the_numbers"}}};

}  // namespace
}  // namespace gdn
