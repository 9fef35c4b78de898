// Claim:   the recurrence refuses index arrays of which one entry is wrong, two states for one slot
//          among them, and touches nothing.
// Why:     a wrong index is another request's state, or memory beyond the pool; two states in one
//          slot are a race that nobody sees.
// Bound:   none: GDN_INVALID_ARGUMENT with a reason; no byte of a state or output has changed, and
//          the next right call gives its bits as if nothing had been refused.
// Origin:  accepted counts and lengths that were trusted; cores that left their work when they met
//          one, while others wrote.
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t slots = 5;
constexpr int64_t tokens = 6;
constexpr int64_t most = std::numeric_limits<int32_t>::max();
constexpr int64_t least = std::numeric_limits<int32_t>::min();

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

class Wrong {
 public:
  explicit Wrong(Call right) : right_(std::move(right)) {}
  // The right call with one entry changed.
  void put(const std::string& name, std::vector<int64_t> Call::*list, size_t at, int64_t value) {
    Call call = right_;
    (call.*list)[at] = value;
    add(name + "[" + std::to_string(at) + "] of " + std::to_string(value), call);
  }
  void add(const std::string& what, const Call& call) {
    all_.push_back({call, GDN_INVALID_ARGUMENT, what});
  }
  const std::vector<WrongCall>& all() const { return all_; }

 private:
  Call right_;
  std::vector<WrongCall> all_;
};

Verdict refuses(const Case& c, const Lab& lab, const Call& right, const Wrong& wrong) {
  return refused_without_trace(c, lab, {right}, wrong.all(), {right});
}

Verdict of_sequences(const Case& given, const Lab& lab, Dialect::SequenceCoding coding) {
  Case c = batch_case(given, slots, tokens);
  c.dialect.sequence_coding = coding;
  const Call right = batch_call({2, 0, 3, 1}, {4, 0, 2, 1});
  Wrong wrong(right);
  for (const int64_t length : {int64_t{-1}, tokens + 1, int64_t{1} << 30}) {
    wrong.put("lengths", &Call::lengths, 0, length);
  }
  wrong.put("lengths", &Call::lengths, 2, -2);
  wrong.put("lengths", &Call::lengths, 3, 2);
  for (const int64_t slot : {slots, most, int64_t{-1}, least}) {
    wrong.put("slots", &Call::slots, 0, slot);
    wrong.put("slots", &Call::slots, 3, slot);
  }
  wrong.put("slots", &Call::slots, 2, 4);
  wrong.put("slots", &Call::slots, 3, 2);
  if (coding == Dialect::SequenceCoding::start_and_lengths) {
    Call late = right;
    late.given[Argument::start] = 1;
    wrong.add("a start that leaves too few tokens", late);
  }
  return refuses(c, lab, right, wrong);
}

Verdict of_drafts(const Case& given, const Lab& lab) {
  const Case c = drafting_case(given, slots + 2, tokens);
  Call right = batch_call({2, 3, 1}, {4, 0, 2, 1, 5, 6});
  right.accepted = {2, 1, 1};
  Wrong wrong(right);
  for (const int64_t accepted : {int64_t{0}, int64_t{-1}, int64_t{3}, most, least}) {
    wrong.put("accepted", &Call::accepted, 0, accepted);
  }
  wrong.put("accepted", &Call::accepted, 1, 4);
  wrong.put("accepted", &Call::accepted, 2, 2);
  // Of one sequence, and of two.
  wrong.put("slots", &Call::slots, 1, 4);
  wrong.put("slots", &Call::slots, 5, 2);
  wrong.put("slots", &Call::slots, 4, slots + 2);
  wrong.put("slots", &Call::slots, 4, -1);
  return refuses(c, lab, right, wrong);
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all = of_drafts(c, lab);
  using Coding = Dialect::SequenceCoding;
  for (const Coding coding : {Coding::cumulative, Coding::lengths, Coding::start_and_lengths}) {
    all = both_served(std::move(all), of_sequences(c, lab, coding));
  }
  return all;
}

const Registered self{{.claim = "recurrent refuses wrong indices, and two states for one slot",
                       .applies = applies,
                       .check = check,
                       .kills = {"too_many_accepted_are_clamped", "one_slot_for_two_states",
                                 "slot_index_of_16_bits", "negative_length_taken_as_none"},
                       .one_in = 16,
                       .searched_others_one_in = 128}};

}  // namespace
}  // namespace gdn
