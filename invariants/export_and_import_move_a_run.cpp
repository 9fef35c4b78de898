// Claim:   a run that is exported and imported on another instance goes on as if it had stayed.
// Why:     S and the history are all that a layer remembers, and the exported form is canonical.
// Bound:   the same engine: equal bits. Another kind of engine: each operator within the bound of
//          the local check on what it imported, since two engines round differently.
// Origin:  an import that leaves the history behind; a state exported in the engine's own layout.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 2; }

struct Move {
  int64_t layer, cut, tokens;
};

std::vector<Call> steps(const Case& c, const Move& m, int64_t begin, int64_t end, bool everything) {
  std::vector<Call> calls;
  const std::vector<Call> stepped = stepped_calls(c);
  for (int64_t t = begin; t < end; ++t) {
    calls.push_back(made::step(m.layer, t));
    if (everything) calls.back().reads = stepped.back().reads;
  }
  return calls;
}

// What is exported is S, then HIST, as they are read.
Verdict is_what_is_read(const CallObserved& exported) {
  std::vector<float> want = exported.reads.at(Tensor::S);
  const std::vector<float>& history = exported.reads.at(Tensor::HIST);
  want.insert(want.end(), history.begin(), history.end());
  const auto found = exported.arrays.find("state");
  return found == exported.arrays.end() ? claim(false, "the exported state has no numbers")
                                        : same_bits("exported state", found->second, want);
}

// The rest of the stream on `to`, which has a state of its own before it imports.
std::vector<Call> received(const Case& c, const Move& m, bool everything) {
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(made::step(m.layer, c.tokens - 1));
  calls.push_back(made::state_import(m.layer, 0));
  made::append(calls, steps(c, m, m.cut, m.tokens, everything));
  return calls;
}

Verdict on_another_kind(const Case& c, const Lab& lab, const Move& m, const Observation& sent) {
  std::string why;
  const Lab* other = lab.beside(lab.engine() == "twin" ? "simt" : "twin", &why);
  const std::vector<Call> calls = received(c, m, true);
  if (other == nullptr || !other->why_not(c.with_calls(calls)).empty()) return claim(true, "");
  const Observation seen = other->run(c.with_calls(calls), {.exports = sent.exports});
  Verdict all = seen.served();
  if (!all.holds()) return all;
  const size_t setup_count = setup_calls(c).size();
  std::vector<TokenTensors> tokens;
  std::vector<int64_t> rows;
  for (int64_t t = 0; t < m.tokens; ++t) {
    const auto i = static_cast<size_t>(t);
    const auto after = static_cast<size_t>(t - m.cut);
    tokens.push_back(t < m.cut ? sent.calls[setup_count + i].reads
                               : seen.calls[setup_count + 2 + after].reads);
    rows.push_back(t);
  }
  std::vector<TokenExpectation> want = other->expect_local(c, m.layer, rows, tokens);
  // What came before the move is the first engine's own arithmetic.
  want.erase(want.begin(), want.begin() + m.cut);
  tokens.erase(tokens.begin(), tokens.begin() + m.cut);
  return both(std::move(all), verdict_of(judge(tokens, want, other->engine())));
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("export_and_import_move_a_run");
  Move m = {};
  m.layer = rng.range(0, c.shape.num_layers - 1);
  m.tokens = rng.range(2, std::min<int64_t>(c.tokens, 5));
  m.cut = rng.range(1, m.tokens - 1);
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  made::append(calls, steps(c, m, 0, m.cut, true));
  const size_t exported = calls.size();
  calls.push_back(made::state_export(m.layer, 0));
  made::append(calls, steps(c, m, m.cut, m.tokens, false));
  const Observation stayed = lab.run(c.with_calls(calls));
  const Observation moved =
      lab.run(c.with_calls(received(c, m, false)), {.exports = stayed.exports});
  Verdict all = both(stayed.served(), moved.served());
  if (!all.holds()) return all;
  all = both(std::move(all), is_what_is_read(stayed.calls[exported]),
             state_kept("after import", moved.calls[setup_count + 1], stayed.calls[exported]));
  for (size_t i = exported + 1; i < calls.size(); ++i) {
    all = both(std::move(all),
               same_bits("token " + std::to_string(i - exported) + " after import",
                         moved.calls[setup_count + 1 + i - exported], stayed.calls[i]));
  }
  if (!all.holds()) return all;
  return both(std::move(all), on_another_kind(c, lab, m, stayed));
}

const Registered self{{.claim = "an exported run goes on elsewhere as if it had stayed",
                       .applies = applies,
                       .check = check,
                       .kills = {"import_drops_history", "export_transposes_state"},
                       .one_in = 8}};

}  // namespace
}  // namespace gdn
