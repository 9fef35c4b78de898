// Claim:   reading every tensor after every call, or none, gives the same outputs and states.
// Why:     read and state_export copy; refused reads write nothing.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a read that hands a buffer over in place of copying it.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Call read_of(int64_t layer, int64_t tensor, int64_t capacity) {
  Call call = made::call(
      CallKind::read,
      {{Argument::layer, layer}, {Argument::tensor, tensor}, {Argument::capacity, capacity}});
  call.reads.clear();
  return call;
}

// Every tensor, its count alone, into too little room, and one that does not exist.
std::vector<Call> every_read(int64_t layer) {
  std::vector<Call> calls;
  for (int64_t tensor = 0; tensor <= tensor_count; ++tensor) {
    for (const int64_t capacity : {-1, -2, 0}) calls.push_back(read_of(layer, tensor, capacity));
  }
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("reads_change_nothing");
  const int64_t layers = c.shape.num_layers;
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  Call state_export = made::state_export(0, 0);
  const bool exports = lab.why_not(c.with_calls({state_export})).empty();
  std::vector<Call> silent = setup_calls(c);
  std::vector<Call> reading = silent;
  std::vector<size_t> fed;  // calls of `reading` that are those of `silent`
  for (size_t i = 0; i < silent.size(); ++i) fed.push_back(i);
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t layer = rng.range(0, layers - 1);
    made::append(reading, every_read(layer));
    Call step = made::step(layer, t);
    step.reads.clear();
    silent.push_back(step);
    fed.push_back(reading.size());
    reading.push_back(step);
    made::append(reading, every_read(layer));
    state_export.given[Argument::layer] = layer;
    if (exports) reading.push_back(state_export);
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    silent.push_back(made::state(layer));
    fed.push_back(reading.size());
    reading.push_back(silent.back());
  }
  const Observation want = lab.run(c.with_calls(silent));
  const Observation seen = lab.run(c.with_calls(reading));
  Verdict all = both(want.served(), seen.conduct);
  if (!all.holds()) return all;
  for (size_t i = 0; i < fed.size(); ++i) {
    all = both(std::move(all), same_bits("call " + std::to_string(fed[i] + 1) + " among reads",
                                         seen.calls[fed[i]], want.calls[i]));
  }
  return all;
}

const Registered self{{.claim = "reads change nothing, right ones and wrong ones",
                       .applies = applies,
                       .check = check,
                       .kills = {"read_clears_history"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
