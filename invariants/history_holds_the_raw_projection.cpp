// Claim:   the history is the last inputs of the conv, QKV as it was projected, oldest first, zeros
//          before a first token.
// Why:     the conv is taken over projections; its output goes on, not back.
// Bound:   none: equal bits.
// Origin:  a history that takes the conv's output, or frames out of order.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && c.shape.conv_kernel >= 2;
}

Verdict check(const Case& c, const Lab& lab) {
  const int64_t frames = c.shape.conv_kernel - 1;
  const int64_t steps = std::min(c.tokens, frames + 2);
  std::vector<Call> calls = setup_calls(c);
  const size_t first = calls.size();
  Call step;
  step.reads = {Tensor::QKV, Tensor::HIST};
  calls.resize(first + static_cast<size_t>(steps), step);
  const Observation seen = lab.run(c.with_calls(calls));
  if (!seen.served().holds()) return seen.served();
  std::vector<float> history(static_cast<size_t>(c.shape.history_count()), 0.0F);
  Verdict all = seen.served();
  for (int64_t t = 0; t < steps; ++t) {
    const TokenTensors& reads = seen.calls[first + static_cast<size_t>(t)].reads;
    const std::vector<float>& newest = reads.at(Tensor::QKV);
    history.erase(history.begin(), history.begin() + c.shape.conv_dim());
    history.insert(history.end(), newest.begin(), newest.end());
    all = both(std::move(all),
               same_bits("HIST after token " + std::to_string(t), reads.at(Tensor::HIST), history));
  }
  return all;
}

const Registered self{{.claim = "the conv history holds raw projections, oldest first",
                       .applies = applies,
                       .check = check,
                       .kills = {"conv_history_stores_output"}}};

}  // namespace
}  // namespace gdn
