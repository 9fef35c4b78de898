// Claim:   a run or a forward of no tokens changes no state and no tensor, wherever it comes.
// Why:     T = 0 is valid everywhere: nothing is read, nothing is written, pointers may be null.
// Bound:   none: equal bits, or NaN in both.
// Origin:  an empty call taken for the start of a sequence; a launch of no blocks.
#include <algorithm>
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// Of a layer, with pointers and without, and of all; `reads` after each.
std::vector<Call> empty_work(const Case& c, const Lab& lab, int64_t layer,
                             const std::set<Tensor>& reads) {
  std::vector<Call> calls;
  for (Call call : {made::run(layer, 0, 0), made::forward(0, 0)}) {
    if (!lab.why_not(c.with_calls({call})).empty()) continue;
    call.given[Argument::read_layer] = layer;
    call.reads = reads;
    calls.push_back(call);
    call.omit = {"h", "out"};
    calls.push_back(call);
  }
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("empty_work_changes_nothing");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  const std::set<Tensor> everything = stepped_calls(c).back().reads;
  std::vector<Call> plain = setup_calls(c);
  plain.push_back(made::state(layer));
  std::vector<Call> calls = plain;
  std::vector<size_t> meant;  // calls that are not empty
  for (size_t i = 0; i < calls.size(); ++i) meant.push_back(i);
  made::append(calls, empty_work(c, lab, layer, {Tensor::S, Tensor::HIST}));
  for (int64_t t = 0; t < tokens; ++t) {
    plain.push_back(made::step(layer, t));
    plain.back().reads = everything;
    meant.push_back(calls.size());
    calls.push_back(plain.back());
    made::append(calls, empty_work(c, lab, layer, everything));
  }
  const Observation want = lab.run(c.with_calls(plain));
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = both(want.served(), seen.served());
  if (all.holds() && calls.size() == plain.size()) {
    all.outcome = Outcome::not_applicable;
    all.detail = "it has neither run nor forward";
  }
  // A tensor that could be read before and cannot after is a failure, not an error beside it.
  if (!want.served().holds() || all.outcome == Outcome::not_applicable) return all;
  size_t next = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (next < meant.size() && meant[next] == i) ++next;
    const CallObserved& left = want.calls[next - 1];
    CallObserved got = seen.calls[i];
    const bool is_empty = meant[next - 1] != i;
    const std::string what = "call " + std::to_string(i + 1) + (is_empty ? ", of no tokens" : "");
    if (is_empty) {
      all = both(std::move(all), claim(got.out.empty(), what + ": it gave an output"));
      got.out = left.out;
    }
    all = both(std::move(all), same_bits(what, got, left));
  }
  return all;
}

const Registered self{{.claim = "a run of no tokens changes nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"empty_run_resets"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
