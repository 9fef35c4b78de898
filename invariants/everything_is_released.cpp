// Claim:   a closed engine holds no memory, and never gave back what it did not hold.
// Why:     close owns all that is left: weights, pool, buffers, snapshots; failures left nothing.
// Bound:   none: as many allocations as releases, of as many bytes.
// Origin:  snapshots that a reset dropped from the list and not from memory.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict balanced(const Observation& seen, const std::string& when) {
  return both(
      claim(seen.held_after_close == 0, when + ": " + std::to_string(seen.held_after_close) +
                                            " allocations are held after close, expected none"),
      claim(!seen.released_too_much,
            when + ": it released what it did not hold, or more bytes than it asked for"));
}

Verdict check(const Case& given, const Lab& lab) {
  if (!lab.has_gate()) return {};
  const Case c = with_layers(given, 2);
  Rng rng = Rng{c.seed}.stream("memory");
  const std::vector<Call> calls = calls_that_hold_memory(c, lab);
  const Observation right = lab.run(c.with_calls(calls));
  if (!right.served().holds()) return both(right.served(), balanced(right, "refused calls"));
  Verdict all = both(right.conduct, balanced(right, "right calls"));

  // Closed in the middle, with wrong calls among the right ones and an allocation refused.
  const auto count = static_cast<size_t>(rng.range(1, static_cast<int64_t>(calls.size())));
  std::vector<Call> some(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<WrongCall> wrong = wrong_calls(c, lab);
  for (int draw = 0; draw < 4; ++draw) {
    const auto at = some.begin() + rng.range(0, static_cast<int64_t>(some.size()));
    some.insert(at, wrong[static_cast<size_t>(rng.range(0, std::ssize(wrong) - 1))].call);
  }
  RunOptions options;
  options.refuse = RefusedAllocation{static_cast<size_t>(rng.range(0, std::ssize(some) - 1)),
                                     static_cast<uint64_t>(rng.range(1, 3))};
  const Observation seen = lab.run(c.with_calls(some), options);
  if (seen.calls.empty()) return both(std::move(all), seen.conduct);
  return both(std::move(all), balanced(seen, "wrong calls among right ones"));
}

const Registered self{{.claim = "a closed engine holds no memory",
                       .applies = applies,
                       .check = check,
                       .kills = {"snapshots_leak", "release_told_twice"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
