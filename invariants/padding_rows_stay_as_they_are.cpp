// Claim:   sequences whose slot is padding leave every state as it was, the first and the last of
//          the pool among them, have the output that their padding asks for, and change nothing of
//          the sequences beside them.
// Why:     a batch is padded to the size of a captured graph; its padding points at nothing, or at
// a
//          slot that somebody owns.
// Bound:   none: equal bits to the batch without its padding; padded outputs 0 or untouched.
// Origin:  a negative index taken as one, which lands before the pool or in its last slot.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using D = Dialect;

constexpr int64_t slots = 7;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict with(D::Padding padding, int64_t index, const Case& given, const Lab& lab) {
  const std::vector<int64_t> lengths = {2, 1, 1, 2};
  Case padded = batch_case(given, slots, 6);
  padded.dialect.padding = padding;
  // A slot that is named twice would be refused where it is taken for one that is used.
  padded.calls = {batch_call(lengths, {2, index, 5, index == 0 ? -1 : index})};
  const RecurrentJudged judged = judge_recurrent(padded, lab);
  if (!judged.verdict.holds()) return judged.verdict;
  const CallObserved& seen = judged.seen.calls[0];
  const std::vector<float> before = lab.first_pool(padded);
  CallObserved was;
  was.arrays["S"] = before;

  Case alone = padded;
  alone.calls = {batch_call({2}, {2}, 0), batch_call({1}, {5}, 3)};
  const Observation one = lab.run(alone);
  Verdict all = both(judged.verdict, one.served());
  if (!all.holds()) return all;
  const std::string where = "padding of " + std::to_string(index) + ", ";
  const auto same = [&](const std::string& what, const std::vector<float>& got,
                        const std::vector<float>& want) {
    all = both(std::move(all), same_bits(where + what, got, want));
  };
  same("o in slot 2", output_of_tokens(padded, seen, 0, 2),
       output_of_tokens(padded, one.calls[0], 0, 2));
  same("o in slot 5", output_of_tokens(padded, seen, 3, 1),
       output_of_tokens(padded, one.calls[1], 0, 1));
  const bool null_slot = padding == D::Padding::slot_zero_is_null;
  for (int64_t slot = null_slot ? 1 : 0; slot < slots; ++slot) {
    const bool is_live = slot == 2 || slot == 5;
    const std::string which = slot == 0           ? "the first slot"
                              : slot == slots - 1 ? "the last slot"
                                                  : "slot " + std::to_string(slot);
    same(which, state_of_slot(padded, seen, slot),
         state_of_slot(padded, is_live ? one.calls[1] : was, slot));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  constexpr std::pair<D::Padding, int64_t> ways[] = {
      {D::Padding::negative_skips, -1},      {D::Padding::negative_skips, -slots},
      {D::Padding::negative_zeroes, -1},     {D::Padding::not_positive_zeroes, 0},
      {D::Padding::not_positive_zeroes, -1}, {D::Padding::slot_zero_is_null, -1},
      {D::Padding::slot_zero_is_null, 0}};
  Verdict all;
  for (const auto& [padding, index] : ways) {
    // An engine may serve one way of padding alone.
    all = both_served(std::move(all), with(padding, index, c, lab));
  }
  return all;
}

const Registered self{{.claim = "padding touches no state and no other sequence",
                       .applies = applies,
                       .check = check,
                       .kills = {"padded_output_is_not_zeroed", "skipped_output_is_zeroed",
                                 "slot_zero_is_never_padding"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
