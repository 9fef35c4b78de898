// Claim:   zeros into a fresh layer give zeros in every tensor but the gates, however many.
// Why:     no projection has a bias, conv and SiLU keep 0, a norm divides 0 by the root of eps, and
//          a zero state decays to zero.
// Bound:   none: every element is zero, of either sign.
// Origin:  a bias, a norm of 0 by 0, state or history that is not zero at first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 4;
const std::set<Tensor> zero_tensors = {
    Tensor::QKV, Tensor::Z, Tensor::A, Tensor::B,     Tensor::CONV, Tensor::Q,   Tensor::K,
    Tensor::V,   Tensor::O, Tensor::S, Tensor::ONORM, Tensor::OUT,  Tensor::HIST};

// An eps that is flushed, or whose root is, divides by zero.
bool applies(const Case& c) {
  constexpr float smallest = std::numeric_limits<float>::min();
  return c.subject == Subject::layer && c.tokens >= 1 && c.shape.l2norm_eps >= smallest &&
         c.shape.rms_norm_eps >= smallest;
}

// 0 times an infinity is NaN, and so is a state of 0 that decays by one. Where exp(A_log) and
// softplus neither overflow nor vanish (|x| up to 64 for float32's 88), no form of g gives it.
bool all_finite(const LayerNumbers& n) {
  for (const std::vector<float>* weights : {&n.qkv, &n.z, &n.out, &n.b, &n.a, &n.conv, &n.norm}) {
    if (!extent_of(*weights).finite) return false;
  }
  const auto moderate = [](float x) { return std::abs(x) <= 64; };
  return std::all_of(n.A_log.begin(), n.A_log.end(), moderate) &&
         std::all_of(n.dt_bias.begin(), n.dt_bias.end(), moderate);
}

Verdict check(const Case& given, const Lab& lab) {
  const int64_t tokens = std::min(given.tokens, tokens_max);
  Case c = given.with_calls(fed_calls(given, tokens, zero_tensors));
  const auto count = static_cast<size_t>(c.tokens * c.shape.hidden_size);
  c = c.with_numbers("h", std::vector<float>(count, 0.0F));
  Case as_f32 = c;
  as_f32.weights = Weights::f32;
  std::string why;
  const std::optional<Numbers> numbers = materialise(as_f32, &why);
  if (!numbers) return not_applicable(why);
  if (!all_finite(numbers->layers.front())) return not_applicable("0 may meet an infinity");
  const Observation seen = lab.run(c);
  Verdict all = seen.served();
  if (!all.holds()) return all;
  for (const auto& [tensor, values] : seen.calls.back().reads) {
    if (values.empty()) continue;
    const std::vector<float> zeros(values.size(), 0.0F);
    all = both(std::move(all), same_bits(std::string(name_of(tensor)) + " of zeros",
                                         without_zero_signs(values), zeros));
  }
  return all;
}

const Registered self{{.claim = "zeros into a fresh layer give zeros",
                       .applies = applies,
                       .check = check,
                       .kills = {"bias_in_the_projection"}}};

}  // namespace
}  // namespace gdn
