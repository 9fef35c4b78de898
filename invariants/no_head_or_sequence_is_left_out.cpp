// Claim:   however many heads and sequences there are, each gives what it should.
// Why:     a grid or a warp of a fixed size serves the first 32 of them, and a test of four heads
//          and two sequences never asks for another.
// Bound:   the reference's, head by head and sequence by sequence.
// Origin:  one lane for each head of a warp, one block for each of 64 sequences.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Case small_case(const Case& given, int64_t slots, int64_t tokens) {
  Case c = batch_case(given, slots, tokens);
  c.shape.head_k_dim = std::min<int64_t>(c.shape.head_k_dim, 3);
  c.shape.head_v_dim = std::min<int64_t>(c.shape.head_v_dim, 3);
  return c;
}

// One more than a power of two, where a size that is fixed ends.
int64_t beyond(Rng& rng, std::initializer_list<int64_t> powers) {
  return powers.begin()[rng.range(0, std::ssize(powers) - 1)] + rng.range(1, 3);
}

Verdict many_heads(const Case& given, const Lab& lab, Rng& rng) {
  constexpr int64_t tokens = 2;
  Case c = small_case(given, 2, tokens);
  const int64_t share = c.shape.v_heads_per_k_head();
  c.shape.num_k_heads = beyond(rng, {16, 32, 64});
  c.shape.num_v_heads = c.shape.num_k_heads * std::max<int64_t>(2, share);
  c.calls = {batch_call({tokens}, {1})};
  return judge_recurrent(c, lab).verdict;
}

Verdict many_sequences(const Case& given, const Lab& lab, Rng& rng) {
  const int64_t count = beyond(rng, {16, 32, 64, 128});
  Case c = small_case(given, count, count);
  std::vector<int64_t> slots = counted(0, count);
  std::reverse(slots.begin(), slots.end());
  c.calls = {batch_call(std::vector<int64_t>(static_cast<size_t>(count), 1), slots)};
  return judge_recurrent(c, lab).verdict;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("no head or sequence is left out");
  Verdict all = many_heads(c, lab, rng);
  return both_served(std::move(all), many_sequences(c, lab, rng));
}

const Registered self{{.claim = "of many heads and many sequences none is left out",
                       .applies = applies,
                       .check = check,
                       .kills = {"heads_beyond_32_left_out", "sequences_beyond_32_left_out"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
