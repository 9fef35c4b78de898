// Claim:   a refusal has a status that says of what kind it is, and words of its own.
// Why:     callers branch on the status and people read the words: both are of the call at hand.
// Bound:   none: the status that device/gdn.h names; words, others where the status is another.
// Origin:  one "invalid argument" for all; the words of the refusal before; no words at all.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::vector<WrongCall> all = wrong_calls(c, lab);
  // Beside those of a layer that is ready: of one that has no token yet.
  const auto out = static_cast<int64_t>(Tensor::OUT);
  const bool observes = lab.description().options.contains("observe");
  if (observes)
    all.push_back({call_of(CallKind::read, {{A::tensor, out}}), GDN_NO_TOKEN, "no token"});
  Rng rng = Rng{c.seed}.stream("words");
  std::vector<WrongCall> wrong;
  for (size_t i = 0; i < 16 && !all.empty(); ++i) {
    const auto at = all.begin() + rng.range(0, static_cast<int64_t>(all.size()) - 1);
    wrong.push_back(*at);
    all.erase(at);
  }
  std::vector<Call> calls = calls_before_wrong_ones(c, lab);
  const size_t first = calls.size();
  for (const WrongCall& one : wrong) calls.push_back(one.call);
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict verdict = seen.conduct;
  if (seen.calls.empty()) return verdict;
  for (size_t i = 0; i < first; ++i) {
    if (!seen.calls[i].ok())
      return both(seen.conduct, refusal(seen.calls[i].status, seen.calls[i].text));
  }
  for (size_t i = 0; i < wrong.size(); ++i) {
    const CallObserved& now = seen.calls[first + i];
    const std::string what = std::string(name_of(wrong[i].call.kind)) + " with " + wrong[i].what;
    verdict = both(std::move(verdict), refused(now, wrong[i]),
                   claim(is_refusal(now.status),
                         what + ": expected a refusal, got status " + std::to_string(now.status)));
    if (i == 0) continue;
    const CallObserved& before = seen.calls[first + i - 1];
    const bool others = now.status == before.status || now.text != before.text;
    verdict = both(std::move(verdict), claim(others, what + ": expected words of its own, got \"" +
                                                         now.text + "\", as of the call before"));
  }
  return verdict;
}

const Registered self{{.claim = "every refusal says why",
                       .applies = applies,
                       .check = check,
                       .kills = {"refusal_without_words", "too_small_reported_as_invalid",
                                 "words_of_an_earlier_refusal"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
