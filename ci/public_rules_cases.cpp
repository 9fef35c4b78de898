// Runs as the public rules see them: outputs and states against what they should be.
#include "ci/public_rules_cases.h"

#include <cmath>
#include <limits>

namespace gdn {
namespace {

using From = WantedNumbers::From;

// What the exact result says nothing of, or what is not finite, is not asked: the rules have no
// word for either.
std::vector<double> numbers_of(const Bounded& want) {
  std::vector<double> numbers(want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const bool is_known = std::isfinite(want.value[i]) && std::isfinite(want.bound_of(i));
    numbers[i] = is_known ? want.value[i] : std::numeric_limits<double>::quiet_NaN();
  }
  return numbers;
}

void want_of_call(size_t index, const CallExpectation& call, std::vector<WantedNumbers>& want) {
  if (call.refused || call.is_huge) return;
  WantedNumbers out{index, From::out, "", false, {}};
  for (const TokenExpectation& token : call.tokens) {
    const std::vector<double> numbers = numbers_of(token.at(Tensor::OUT));
    out.value.insert(out.value.end(), numbers.begin(), numbers.end());
  }
  if (!out.value.empty()) want.push_back(std::move(out));
  for (const auto& [name, bounded] : call.arrays) {
    const bool is_state = name == "S" || name == "hist";
    if (bounded.size() == 0) continue;
    want.push_back({index, From::array, name, is_state, numbers_of(bounded)});
  }
  const auto S = call.reads.find(Tensor::S);
  if (S != call.reads.end()) {
    want.push_back({index, From::read_S, "", true, numbers_of(S->second)});
  }
}

// The case with the state of each layer read at its end.
Case with_final_states(const Case& c) {
  if (c.subject != Subject::layer) return c;
  std::vector<Call> calls = c.calls.empty() ? stepped_calls(c) : c.calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    calls.push_back(call_of(CallKind::read, {{Argument::layer, layer},
                                             {Argument::tensor, static_cast<int64_t>(Tensor::S)}}));
  }
  const Case more = c.with_calls(calls);
  return why_invalid(more).empty() ? more : c;
}

const std::vector<float>& got_of(const WantedNumbers& wanted, const Observation& seen) {
  static const std::vector<float> nothing;
  if (wanted.call >= seen.calls.size()) return nothing;
  const CallObserved& call = seen.calls[wanted.call];
  if (wanted.from == From::out) return call.out;
  if (wanted.from == From::read_S) {
    const auto found = call.reads.find(Tensor::S);
    return found == call.reads.end() ? nothing : found->second;
  }
  const auto found = call.arrays.find(wanted.array);
  return found == call.arrays.end() ? nothing : found->second;
}

}  // namespace

const char* name_of(RuleRange range) {
  constexpr const char* names[rule_range_count] = {"a", "b", "c", "regimes"};
  return names[static_cast<size_t>(range)];
}

std::optional<RuledCase> ruled(std::string name, const Case& c, const Lab& right) {
  RuledCase ruled_case{std::move(name), RuleRange::regimes, with_final_states(c), {}};
  const Expectation& want = right.expect(ruled_case.content);
  for (size_t i = 0; i < want.calls.size(); ++i) {
    want_of_call(i, want.calls[i], ruled_case.want);
  }
  if (ruled_case.want.empty()) return std::nullopt;
  return ruled_case;
}

RuleSet rejecting(const RuledCase& c, const Lab& lab) {
  const Observation seen = lab.run(c.content);
  std::vector<Compared> run(2);
  for (const WantedNumbers& wanted : c.want) {
    const std::vector<float>& got = got_of(wanted, seen);
    if (got.size() != wanted.value.size()) return RuleSet().set();
    Compared& part = run[wanted.is_state];
    part.got.insert(part.got.end(), got.begin(), got.end());
    part.want.insert(part.want.end(), wanted.value.begin(), wanted.value.end());
  }
  return rejecting(run);
}

}  // namespace gdn
