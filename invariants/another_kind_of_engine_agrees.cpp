// Claim:   an engine that shares no code with this one gives the same layer.
// Why:     both compute the same function; each answers for its own rounding.
// Bound:   the two engines' bounds together, each by its own contract.
// Origin:  a convention that one side reads otherwise: norms, scales, gates, the order of decay.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 8;
const std::set<Tensor> compared = {Tensor::QKV, Tensor::BETA, Tensor::G,   Tensor::CONV,
                                   Tensor::Q,   Tensor::K,    Tensor::O,   Tensor::ONORM,
                                   Tensor::OUT, Tensor::S,    Tensor::HIST};

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// The twin; the twin itself beside the kernels.
const char* other_than(const Lab& lab) { return lab.engine() == "twin" ? "simt" : "twin"; }

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const Lab* const other = lab.beside(other_than(lab), &why);
  if (!other) return not_applicable(why);
  const int64_t tokens = std::min(given.tokens, tokens_max);
  const Case c = given.with_calls(fed_calls(given, tokens, compared));
  const Observation here = lab.run(c);
  if (!here.served().holds()) return here.served();
  const Observation there = other->run(c);
  // What is wrong with the other engine is for its own verdicts to say.
  if (!there.served().holds()) return not_applicable(there.served().detail);
  const TokenExpectation& of_here = lab.expect(c).calls.back().reads;
  const TokenExpectation& of_there = other->expect(c).calls.back().reads;
  Verdict all = here.served();
  for (const auto& [tensor, values] : here.calls.back().reads) {
    if (values.empty()) continue;
    const Verdict v = agree(std::string(name_of(tensor)) + " against that of " + other->engine(),
                            {values, of_here.at(tensor)},
                            {{there.calls.back().reads.at(tensor), of_there.at(tensor)}});
    all = both(std::move(all), v);
  }
  return unless_empty(std::move(all));
}

const Registered self{{.claim = "another kind of engine gives the same layer",
                       .applies = applies,
                       .check = check,
                       .kills = {"beta_from_a", "conv_history_stores_output", "error_before_decay",
                                 "l2_norm_without_eps", "q_scale_twice"},
                       .one_in = 4,
                       .needs = {"twin"}}};

}  // namespace
}  // namespace gdn
