// Claim:   output weights times 2 give OUT times 2, bit for bit.
// Why:     a sum of products is linear in its weights, in any order of additions; doubling commutes
//          with rounding as long as nothing leaves the normal numbers.
// Bound:   none: equal bits, where the extents of ONORM and the weights show that nothing can.
// Origin:  an offset added to the output, an output that is clamped or stored in another format.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 5;

// q8_0 rounds ONORM by blocks, whose scale may leave f16's normal numbers.
bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && c.weights == Weights::f32 &&
         c.dialect.activation == Dialect::Activation::f32;
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  const Case c = given.with_calls(fed_calls(given, tokens, {Tensor::ONORM, Tensor::OUT}));
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  const std::vector<float>& weights = numbers->layers.front().out;
  if (!scales(extent_of(weights), 1)) return not_applicable("the weights cannot be doubled");
  const Observation one = lab.run(c);
  const Observation two = lab.run(c.with_numbers("out", times_power(weights, 1)));
  const Verdict served = both(one.served(), two.served());
  if (!served.holds()) return served;
  const TokenTensors& of_one = one.calls.back().reads;
  const TokenTensors& of_two = two.calls.back().reads;
  const Verdict same = same_bits("ONORM with other output weights", of_two.at(Tensor::ONORM),
                                 of_one.at(Tensor::ONORM));
  const Extent products = product(extent_of(of_one.at(Tensor::ONORM)), extent_of(weights));
  if (!scales(sum_of(products, c.shape.v_dim()), 1)) return both(served, same);
  return both(served, same,
              same_bits("OUT", of_two.at(Tensor::OUT), times_power(of_one.at(Tensor::OUT), 1)));
}

const Registered self{{.claim = "output weights times 2 give the output times 2",
                       .applies = applies,
                       .check = check,
                       .kills = {"bias_in_the_projection"}}};

}  // namespace
}  // namespace gdn
