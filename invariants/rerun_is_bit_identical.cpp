// Claim:   running a case again gives the same bits, whatever the memory held and whoever watches.
// Why:     nothing but the case goes into the numbers: no stale memory, no order of threads.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a row left over from the run before; a sum whose order depends on timing.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject != Subject::layer || c.tokens >= 1 || !c.calls.empty();
}

// The stream again in the same engine after a reset: the state of a first run is its only memory.
Verdict same_after_reset(const Case& c, const Lab& lab, const Observation& fresh) {
  const std::vector<Call> once = stepped_calls(c);
  const size_t setup_count = setup_calls(c).size();
  std::vector<Call> twice = once;
  Call reset;
  reset.kind = CallKind::reset;
  reset.given[Argument::layer] = -1;
  twice.push_back(reset);
  for (size_t i = setup_count; i < once.size(); ++i) {
    twice.push_back(once[i]);
    twice.back().given[Argument::first_token] = static_cast<int64_t>(i - setup_count);
  }
  Observation seen = lab.run(c.with_calls(twice));
  if (!seen.served().holds()) return seen.served();
  Observation second;
  second.conduct = seen.conduct;
  for (size_t i = 0; i < once.size(); ++i) {
    const size_t from = i < setup_count ? i : i + (once.size() - setup_count) + 1;
    second.calls.push_back(std::move(seen.calls[from]));
  }
  return same_bits(second, fresh);
}

Verdict check(const Case& given, const Lab& lab) {
  const bool stepped = given.subject == Subject::layer && given.calls.empty();
  const Case c = stepped ? given.with_calls(stepped_calls(given)) : given;
  const Observation first = lab.run(c);
  if (!first.conduct.holds()) return first.conduct;
  Verdict all = same_bits(lab.run(c), first);
  // NaN, then 10^30 (0x7149f2ca) in all memory that the engine has not written.
  for (const uint32_t pattern : {0xFFFFFFFFU, 0x7149F2CAU}) {
    if (!lab.can_fill()) break;
    all = both(std::move(all), same_bits(lab.run(c, {.observe = true, .fill = pattern}), first));
  }
  const bool has_stream = c.subject == Subject::layer && c.tokens >= 1;
  if (!has_stream) return all;
  const Case plain = c.with_calls(stepped_calls(c));
  const Observation fresh = stepped ? first : lab.run(plain);
  if (!fresh.served().holds()) return both(std::move(all), fresh.served());
  return both(std::move(all), same_after_reset(plain, lab, fresh));
}

const Registered self{{.claim = "running a case again gives the same bits",
                       .applies = applies,
                       .check = check,
                       .kills = {"reset_keeps_history"},
                       .one_in = 4,
                       .searched_layers_one_in = 4}};

}  // namespace
}  // namespace gdn
