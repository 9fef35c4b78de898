// Claim:   where all taps of the conv but one are zero, it is a conv of one tap on that input.
// Why:     the other products are zeros.
// Bound:   the two bounds together; the history after it is the window's end, bit for bit.
// Origin:  taps flipped, a window read one frame too far or too late, a history shifted twice.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::conv && c.shape.conv_kernel >= 2; }

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  const int64_t channels = c.shape.conv_dim();
  const int64_t taps = c.shape.conv_kernel;
  std::vector<float> window = numbers->arrays.at("hist");
  const std::vector<float>& x = numbers->arrays.at("x");
  window.insert(window.end(), x.begin(), x.end());
  const int64_t tap = Rng{c.seed}.stream("tap").range(0, taps - 1);
  std::vector<float> lone(static_cast<size_t>(channels * taps), 0.0F);
  std::vector<float> weights;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const auto at = static_cast<size_t>(channel * taps + tap);
    lone[at] = numbers->arrays.at("weight")[at];
    weights.push_back(lone[at]);
  }
  const Case of_many = c.with_numbers("weight", lone);
  Case of_one = c;
  of_one.numbers.clear();
  of_one.shape.conv_kernel = 1;
  of_one = of_one.with_numbers("x", rows_in_order(window, channels, {tap}))
               .with_numbers("weight", weights);
  const Observation many = lab.run(of_many);
  const Observation one = lab.run(of_one);
  Verdict all = both(many.served(), one.served());
  if (!all.holds()) return all;
  const std::vector<float> shifted(window.begin() + channels, window.end());
  all = both(std::move(all), same_bits("hist", many.calls.front().arrays.at("hist"), shifted));
  const auto seen = [&](const Observation& run, const Case& of) {
    return Judged{run.calls.front().arrays.at("y"), lab.expect(of).calls.front().arrays.at("y")};
  };
  const Verdict y =
      agree("y of tap " + std::to_string(tap) + " alone", seen(many, of_many), {seen(one, of_one)});
  return both(std::move(all), y);
}

const Registered self{{.claim = "a conv whose other taps are zero is a conv of one tap",
                       .applies = applies,
                       .check = check,
                       .kills = {"conv_one_frame_late", "conv_taps_flipped"}}};

}  // namespace
}  // namespace gdn
