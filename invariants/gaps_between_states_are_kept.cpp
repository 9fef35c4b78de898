// Claim:   a pool whose states lie apart gives the bits of one whose states lie side by side, in
//          either layout, and what lies between them keeps its bits.
// Why:     states share their memory with a conv history, or with other layers' states: the stride
//          of a slot is the caller's, and the gap is somebody's.
// Bound:   none: equal bits, and sentinels around every slot.
// Origin:  a pool addressed as if it were packed; a store of whole vectors past the end of a state.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using D = Dialect;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

// Offsets and gaps that are multiples of four elements, and that are not.
constexpr std::pair<int64_t, int64_t> apart[] = {{4, 8}, {3, 5}, {0, 1}, {1, 0}};

Verdict in_layout(D::StateLayout layout, D::StateWrites writes, const Case& given, const Lab& lab) {
  Case c = batch_case(given, 5, 5);
  c.dialect.state_layout = layout;
  c.dialect.state_writes = writes;
  const bool by_token = writes == D::StateWrites::every_token;
  c.calls = {by_token ? batch_call({2, 3}, {4, 0, 2, 1, 3}) : batch_call({2, 3}, {4, 0})};
  c.pool.offset = c.pool.gap = 0;
  const RecurrentJudged packed = judge_recurrent(c, lab);
  Verdict all = packed.verdict;
  for (const auto& [offset, gap] : apart) {
    if (!all.holds()) return all;
    Case other = c;
    other.pool.offset = offset;
    other.pool.gap = gap;
    const Observation seen = lab.run(other);
    all = both(std::move(all), seen.served());
    if (!all.holds()) return all;
    all = both(std::move(all), same_bits("states " + std::to_string(gap) + " apart", seen.calls[0],
                                         packed.seen.calls[0]));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all;
  for (const D::StateLayout layout : {D::StateLayout::kv, D::StateLayout::vk}) {
    for (const auto writes : {D::StateWrites::final_only, D::StateWrites::every_token}) {
      all = both_served(std::move(all), in_layout(layout, writes, c, lab));
    }
  }
  return all;
}

const Registered self{{.claim = "states may lie apart, and what is between them is kept",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_store_runs_into_the_gap", "pool_taken_as_packed"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
