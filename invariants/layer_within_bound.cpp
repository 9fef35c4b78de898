// Claim:   what a layer gives lies within its bound of what its weights and inputs alone determine.
// Why:     every error of an operator is bounded, so that of the layer is; refused calls, resets,
//          rollbacks and other layers' steps leave no trace in it.
// Bound:   the global check: each operator's bound carried through the ones after it.
// Origin:  an engine whose operators are right one by one and that feeds them the wrong state.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer; }

// out of a call in rows of one token.
std::vector<float> row_of(const std::vector<float>& out, size_t token, int64_t hidden_size) {
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(token) * hidden_size;
  return std::vector<float>(begin, begin + hidden_size);
}

Verdict status_as_expected(size_t index, const CallObserved& got, const CallExpectation& want) {
  const std::string where = "call " + std::to_string(index + 1) + ": ";
  if (want.refused) return claim(!got.ok(), where + "it was served, a refusal is right");
  if (got.ok()) return claim(true, "");
  Verdict refused;
  refused.outcome = Outcome::engine_error;
  refused.detail = where + "it was refused: " + got.text;
  return refused;
}

Verdict numbers_as_expected(const Case& c, size_t index, const CallObserved& got,
                            const CallExpectation& want) {
  const std::string where = "call " + std::to_string(index + 1) + ", ";
  Verdict all = claim(true, "");
  for (size_t t = 0; t < want.tokens.size(); ++t) {
    all = both(std::move(all),
               within(where + "OUT of its token " + std::to_string(t),
                      row_of(got.out, t, c.shape.hidden_size), want.tokens[t].at(Tensor::OUT)));
  }
  for (const auto& [tensor, bounded] : want.reads) {
    const auto found = got.reads.find(tensor);
    if (found == got.reads.end() || (bounded.size() == 0 && found->second.empty())) continue;
    all =
        both(std::move(all), within(where + std::string(name_of(tensor)), found->second, bounded));
  }
  return all;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.calls.empty() ? given.with_calls(stepped_calls(given)) : given;
  const Observation seen = lab.run(c);
  if (!seen.conduct.holds()) return seen.conduct;
  const Expectation& want = lab.expect(c);
  Verdict all = seen.conduct;
  for (size_t i = 0; i < c.calls.size(); ++i) {
    const CallObserved& call = seen.calls[i];
    all = both(std::move(all), status_as_expected(i, call, want.calls[i]));
    if (!call.ok() || want.calls[i].refused) continue;
    all = both(std::move(all), numbers_as_expected(c, i, call, want.calls[i]));
  }
  return all;
}

const Registered self{
    {.claim = "a layer is within its bound of what its weights and inputs determine",
     .applies = applies,
     .check = check,
     .kills = {"layer_offset", "rollback_keeps_history", "stale_binding_after_pool_rebuild"}}};

}  // namespace
}  // namespace gdn
