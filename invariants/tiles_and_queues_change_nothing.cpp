// Claim:   the tiled operator gives the same bits in tiles of any size, with results copied at once
//          or a token later, on any number of cores, and with any queue as late as it may be.
// Why:     values are independent of each other, and waits order all that is not.
// Bound:   none: equal bits.
// Origin:  a copy that took the length of another tile, results of a last token left behind, a
//          short last tile.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

// `ascend_sim` as it is, and in other ways.
const char* const others[] = {
    "ascend_sim",
    "ascend_sim:v_step=16,depth=1",
    "ascend_sim:v_step=16,depth=2,cores=1",
    "ascend_sim:v_step=32,depth=2,cores=3",
    "ascend_sim:v_step=16,depth=2,late=copy_in",
    "ascend_sim:v_step=16,depth=2,late=vector,late=copy_out",
};

bool is_unserved(const CallObserved& call) { return call.status == GDN_UNSUPPORTED; }

Verdict check(const Case& c, const Lab& lab) {
  std::string why;
  const Lab* const plain = lab.beside(others[0], &why);
  if (!plain) return not_applicable(why);
  if (lab.contract().name != plain->contract().name) {
    return not_applicable("it does not compute in tiles");
  }
  const Observation own = lab.run(c);
  const auto is_beyond_it = [](const Observation& seen) {
    return std::any_of(seen.calls.begin(), seen.calls.end(), is_unserved);
  };
  if (is_beyond_it(own)) return not_applicable("the operator does not serve it");
  Verdict verdict = own.conduct;
  for (const char* name : others) {
    if (!verdict.holds()) return verdict;
    const Lab* const other = lab.beside(name, &why);
    if (!other) return not_applicable(why);
    const Observation seen = other->run(c);
    if (is_beyond_it(seen)) return not_applicable("the operator does not serve it");
    // Wrong calls are refused by each.
    verdict = both(std::move(verdict), seen.conduct, same_bits(own, seen));
  }
  return verdict;
}

const Registered self{{.claim = "tiles, queues and cores change no bit",
                       .applies = applies,
                       .check = check,
                       .kills = {"copy_of_the_next_tile_length", "every_state_to_the_first_slot",
                                 "gates_read_without_padding", "output_rows_without_padding",
                                 "padding_summed", "q_scaled_for_each_tile",
                                 "results_flushed_once_a_sequence", "start_slot_of_the_first_token",
                                 "tile_of_the_next_tile_length", "values_of_the_first_tile"},
                       .judges = {"ascend_sim"},
                       .needs = {"ascend_sim"}}};

}  // namespace
}  // namespace gdn
