// Claim:   a stream cut into calls in any way gives the outputs, S and history of one call.
// Why:     the state after token t depends on tokens 0..t alone; a call's end carries nothing.
// Bound:   a token loop: equal bits. A chunked recurrence: each within the global check's bound.
// Origin:  a carry that is dropped, or stored once too often, between two calls.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 2; }

using Pieces = std::vector<int64_t>;

// Halves, one and the rest, the rest and one, chunks of 64 and of 33, singles, and drawn pieces.
Pieces drawn_pieces(Rng& rng, int64_t tokens) {
  const auto equal = [tokens](int64_t length) {
    Pieces pieces;
    for (int64_t t = 0; t < tokens; t += length) pieces.push_back(std::min(length, tokens - t));
    return pieces;
  };
  switch (rng.range(0, 6)) {
    case 0:
      return equal((tokens + 1) / 2);
    case 1:
      return {1, tokens - 1};
    case 2:
      return {tokens - 1, 1};
    case 3:
      return equal(std::min<int64_t>(64, tokens - 1));
    case 4:
      return equal(std::min<int64_t>(33, tokens - 1));
    case 5:
      return equal(1);
    default:
      break;
  }
  Pieces pieces;
  for (int64_t left = tokens; left > 0; left -= pieces.back()) {
    pieces.push_back(rng.range(pieces.empty() ? 0 : 1, std::max<int64_t>(1, left / 2)));
  }
  return pieces;
}

std::vector<Call> in_pieces(const Case& c, int64_t layer, const Pieces& pieces) {
  std::vector<Call> calls = setup_calls(c);
  int64_t first = 0;
  for (const int64_t length : pieces) {
    calls.push_back(made::run(layer, first, length));
    first += length;
  }
  return calls;
}

std::string in_words(const Pieces& pieces) {
  std::string words = "pieces of";
  for (size_t i = 0; i < std::min<size_t>(4, pieces.size()); ++i) {
    words += " " + std::to_string(pieces[i]);
  }
  return words + (pieces.size() > 4 ? " ..." : "");
}

// All outputs of the pieces, and the state after the last.
CallObserved joined(const Observation& seen, size_t setup_count) {
  CallObserved all = seen.calls.back();
  all.out.clear();
  for (size_t i = setup_count; i < seen.calls.size(); ++i) {
    all.out.insert(all.out.end(), seen.calls[i].out.begin(), seen.calls[i].out.end());
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("split_changes_nothing");
  const int64_t tokens = std::min<int64_t>(97, c.tokens);
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const size_t setup_count = setup_calls(c).size();
  const Observation whole = lab.run(c.with_calls(in_pieces(c, layer, {tokens})));
  Verdict all = whole.served();
  if (!all.holds()) return all;
  const Pieces pieces = drawn_pieces(rng, tokens);
  const Case split = c.with_calls(in_pieces(c, layer, pieces));
  const Observation seen = lab.run(split);
  all = both(std::move(all), seen.served());
  if (!all.holds()) return all;
  if (lab.contract().recurrence == Recurrence::token_loop) {
    return both(std::move(all),
                same_bits(in_words(pieces), joined(seen, setup_count), joined(whole, setup_count)));
  }
  // Pieces of other lengths are summed in another order: each against what the case determines.
  const Expectation& want = lab.expect(split);
  for (size_t call = setup_count; call < split.calls.size(); ++call) {
    all = both(std::move(all), within(in_words(pieces) + ", call " + std::to_string(call + 1),
                                      seen.calls[call], want.calls[call], c.shape.hidden_size));
  }
  return all;
}

const Registered self{{.claim = "cutting a stream into calls changes nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_dropped_at_call", "run_starts_from_zero_state",
                                 "run_drops_last_token_from_history"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
