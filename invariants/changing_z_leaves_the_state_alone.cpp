// Claim:   other z weights and norm weights change ONORM and OUT, and no bit of what is before
// them. Why:     the gate acts on the output of the recurrence; nothing flows back into the state.
// Bound:   none: equal bits of every tensor up to O, and of S and HIST.
// Origin:  a gate that is applied in place, a norm that runs before the recurrence has read o.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 5;
const std::set<Tensor> before_the_gate = {Tensor::QKV, Tensor::A,    Tensor::B, Tensor::BETA,
                                          Tensor::G,   Tensor::CONV, Tensor::Q, Tensor::K,
                                          Tensor::V,   Tensor::O,    Tensor::S, Tensor::HIST};

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

std::vector<float> other_numbers(std::vector<float> numbers) {
  std::reverse(numbers.begin(), numbers.end());
  for (float& x : numbers) x = -x;
  return numbers;
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  const Case c = given.with_calls(fed_calls(given, tokens, before_the_gate));
  // Of 4-bit weights, what they are made from.
  Case as_f32 = c.with_calls({});
  as_f32.weights = Weights::f32;
  std::string why;
  const std::optional<Numbers> numbers = materialise(as_f32, &why);
  if (!numbers) return not_applicable(why);
  const LayerNumbers& layer = numbers->layers.front();
  const Case other =
      c.with_numbers("z", other_numbers(layer.z)).with_numbers("norm", other_numbers(layer.norm));
  const Observation one = lab.run(c);
  const Observation two = lab.run(other);
  Verdict all = both(one.served(), two.served());
  if (!all.holds()) return all;
  for (const auto& [tensor, values] : one.calls.back().reads) {
    if (values.empty()) continue;
    all = both(std::move(all), same_bits(std::string(name_of(tensor)) + " with another gate",
                                         two.calls.back().reads.at(tensor), values));
  }
  return all;
}

const Registered self{{.claim = "another gate leaves the state and everything before it alone",
                       .applies = applies,
                       .check = check,
                       .kills = {"output_gated_in_place"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
