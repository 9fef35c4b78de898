// Claim:   a destination that is one element short is refused and stays as it was; one that is
//          large enough takes all, and no more.
// Why:     a part of a tensor is taken for the whole by whoever does not count.
// Bound:   none: TOO_SMALL, nothing written; all that is read whole in equal bits.
// Origin:  as many elements copied as fit, and a status of success.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Call read_of(Tensor tensor, int64_t capacity) {
  return call_of(CallKind::read,
                 {{A::tensor, static_cast<int64_t>(tensor)}, {A::capacity, capacity}});
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  Rng rng = Rng{c.seed}.stream("short reads");
  std::vector<Call> before = setup_calls(c);
  const size_t step_at = before.size();
  before.push_back(made::step(0, 0));
  std::vector<WrongCall> wrong;
  std::vector<Call> whole;
  for (int draw = 0; draw < 4; ++draw) {
    const auto tensor = static_cast<Tensor>(rng.range(0, tensor_count - 1));
    const int64_t count = element_count(tensor, c.shape);
    before.back().reads.insert(tensor);
    whole.push_back(read_of(tensor, count + (draw % 2) * rng.range(1, 9)));
    if (count == 0) continue;
    for (const int64_t capacity : {count - 1, rng.range(0, count - 1)}) {
      wrong.push_back({read_of(tensor, capacity), GDN_TOO_SMALL,
                       "capacity " + std::to_string(capacity) + " for the " +
                           std::to_string(count) + " of " + std::string(name_of(tensor))});
    }
  }
  for (const WrongCall& one : wrong_calls(c, lab)) {
    if (one.status == GDN_TOO_SMALL) wrong.push_back(one);
  }

  const Verdict short_ones = refused_without_trace(c, lab, before, wrong, whole);
  std::vector<Call> calls = before;
  made::append(calls, whole);
  const Observation seen = lab.run(c.with_calls(calls));
  if (!seen.served().holds()) return both(short_ones, seen.served());
  Verdict all = both(short_ones, seen.conduct);
  for (size_t i = step_at + 1; i < seen.calls.size(); ++i) {
    for (const auto& [tensor, values] : seen.calls[i].reads) {
      const std::vector<float>& after_step = seen.calls[step_at].reads.at(tensor);
      if (values.empty() && after_step.empty()) continue;
      all = both(std::move(all),
                 same_bits("read of " + std::string(name_of(tensor)) + " with room for all", values,
                           after_step));
    }
  }
  return all;
}

const Registered self{
    {.claim = "a destination that is too small is refused and left alone",
     .applies = applies,
     .check = check,
     .kills = {"short_read_truncates", "refused_read_writes", "too_small_reported_as_invalid"},
     .one_in = 2}};

}  // namespace
}  // namespace gdn
