// Claim:   the state and output of a sum of two streams of v are the sum of theirs.
// Why:     the recurrence is linear in (S, v). Each number is split into its high and its low bits,
//          whose sum is exact.
// Bound:   the three bounds together.
// Origin:  a state that is clamped or quantised, an output with an offset.
#include <bit>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 6;

bool applies(const Case& c) {
  return c.subject == Subject::delta_rule || (c.subject == Subject::recurrent && c.tokens >= 1);
}

// The upper bits of each number; what is left of it is a number of the same format.
std::vector<float> high_bits(std::vector<float> numbers, Format format) {
  // The 23 bits of a significand hold 23, 7 or 10 that a format can fill: the lower half of those
  // is cleared, and everything below them is zero already.
  const uint32_t kept =
      format == Format::f32 ? 0xFFFFF000U : (format == Format::bf16 ? 0xFFF00000U : 0xFFFC0000U);
  for (float& x : numbers) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & kept);
  return numbers;
}

std::vector<float> difference(std::vector<float> one, const std::vector<float>& other) {
  for (size_t i = 0; i < one.size(); ++i) one[i] -= other[i];
  return one;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  std::optional<Case> whole = recurrence_in_full(given, tokens_max, &why);
  if (!whole) return not_applicable(why);
  // One call: what is judged is its end.
  const Case c = whole->with_calls({});
  const std::vector<float> v = array_of(c, "v");
  const std::vector<float> S = array_of(c, "S");
  if (!extent_of(v).finite || !extent_of(S).finite) return not_applicable("v or S is not finite");
  const std::vector<float> high_v = high_bits(v, c.dialect.input_storage);
  const std::vector<float> high_S = high_bits(S, c.dialect.state_storage);
  const Case high = c.with_numbers("v", high_v).with_numbers("S", high_S);
  const Case low =
      c.with_numbers("v", difference(v, high_v)).with_numbers("S", difference(S, high_S));
  const Observation of_whole = lab.run(c);
  const Observation of_high = lab.run(high);
  const Observation of_low = lab.run(low);
  const Verdict served = both(of_whole.served(), of_high.served(), of_low.served());
  if (!served.holds()) return served;
  Verdict all = served;
  for (const char* name : {"S", "o"}) {
    const auto seen = [&](const Observation& run, const Case& of) {
      return Judged{run.calls.front().arrays.at(name),
                    lab.expect(of).calls.front().arrays.at(name)};
    };
    const Verdict sum = agree(std::string(name) + " of v against that of its parts",
                              seen(of_whole, c), {seen(of_high, high), seen(of_low, low)});
    all = both(std::move(all), sum);
  }
  return unless_empty(std::move(all));
}

const Registered self{{.claim = "state and output of a sum of values are the sum of theirs",
                       .applies = applies,
                       .check = check,
                       .kills = {"output_offset_added", "state_saturates_at_one"}}};

}  // namespace
}  // namespace gdn
