// Claim:   a call of fewer tokens than the conv has taps before the newest keeps older inputs.
// Why:     the history is the last ck - 1 inputs of the layer, whichever calls they came in.
// Bound:   none: equal bits of what the same tokens leave when they come in one call.
// Origin:  a history filled from the call's own inputs, and with zeros where those were too few.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.shape.conv_kernel >= 3 && c.tokens >= 3;
}

Call run_of(int64_t tokens) {
  Call run;
  run.kind = CallKind::run;
  run.given[Argument::tokens] = tokens;
  run.reads = {Tensor::HIST};
  return run;
}

Verdict check(const Case& c, const Lab& lab) {
  const int64_t tokens = std::min(c.tokens, c.shape.conv_kernel);
  std::vector<Call> whole = setup_calls(c);
  std::vector<Call> pieces = whole;
  whole.push_back(run_of(tokens));
  pieces.push_back(run_of(tokens - 1));
  pieces.push_back(run_of(1));
  const Observation one = lab.run(c.with_calls(whole));
  const Observation two = lab.run(c.with_calls(pieces));
  const Verdict served = both(one.served(), two.served());
  if (!served.holds()) return served;
  return same_bits("HIST after a call of 1 token", two.calls.back().reads.at(Tensor::HIST),
                   one.calls.back().reads.at(Tensor::HIST));
}

const Registered self{{.claim = "a call shorter than the conv window keeps older inputs",
                       .applies = applies,
                       .check = check,
                       .kills = {"short_call_zeroes_older_history"}}};

}  // namespace
}  // namespace gdn
