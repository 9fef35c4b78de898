// Claim:   tap j of a channel multiplies frame j of history and input, oldest first; after the
//          token the history is one frame on, in the bits that it was given.
// Why:     y_c = sum_j w[c][j] window_j[c]; the last tap meets the newest input.
// Bound:   the reference's, around silu of the sum by hand; equal bits of the history.
// Origin:  taps read newest first (1234 for 4321), a history one frame late (4210).
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::conv && c.calls.empty(); }

double silu(double y) { return y / (1 + std::exp(-y)); }

// Few channels, all of them different; the shape's own number of taps, or another.
Shape of_taps(const Case& c, int64_t taps) {
  Shape shape = with_heads(c.shape, 1, std::min<int64_t>(c.shape.head_k_dim, 4), 1,
                           std::min<int64_t>(c.shape.head_v_dim, 16));
  shape.conv_kernel = taps;
  return shape;
}

// Frame j of channel c holds (j + 1) 2^(c mod 3); taps are as given, the same in every channel.
Verdict convolved(const Case& c, const Lab& lab, const std::vector<float>& taps) {
  const Shape shape = of_taps(c, static_cast<int64_t>(taps.size()));
  Arrays in = {{"hist", {}}, {"x", {}}, {"weight", {}}};
  std::vector<float> window;
  std::vector<double> y(static_cast<size_t>(shape.conv_dim()), 0.0);
  for (size_t j = 0; j < taps.size(); ++j) {
    for (size_t channel = 0; channel < y.size(); ++channel) {
      const float frame = std::ldexp(static_cast<float>(j + 1), static_cast<int>(channel % 3));
      window.push_back(frame);
      y[channel] += double{taps[j]} * frame;
    }
  }
  const auto newest = window.end() - static_cast<ptrdiff_t>(y.size());
  in["hist"].assign(window.begin(), newest);
  in["x"].assign(newest, window.end());
  for (double& sum : y) {
    sum = silu(sum);
    in["weight"].insert(in["weight"].end(), taps.begin(), taps.end());
  }
  const Worked token = work(lab, worked_case(c, Subject::conv, shape, in));
  if (!token.served.holds()) return token.served;
  if (taps.size() == 1) return token.is("y", y);
  const std::vector<float> one_on(window.begin() + static_cast<ptrdiff_t>(y.size()), window.end());
  return both(token.is("y", y), same_bits("hist", token.got.at("hist"), one_on));
}

// Frames 1, 2, 3 and 4 under taps 1, 10, 100, 1000 give 4321, and silu(4321) is 4321. Then one tap
// alone in the case's own number of them: the first, the last, one in between.
Verdict check(const Case& c, const Lab& lab) {
  Verdict all = convolved(c, lab, {1, 10, 100, 1000});
  const int64_t newest = c.shape.conv_kernel - 1;
  for (const int64_t hot : {int64_t{0}, newest, Rng{c.seed}.stream("tap").range(0, newest)}) {
    if (!all.holds()) return all;
    std::vector<float> taps(static_cast<size_t>(c.shape.conv_kernel), 0.0F);
    taps[static_cast<size_t>(hot)] = -0.5F;
    all = both(std::move(all), convolved(c, lab, taps));
  }
  return all;
}

const Registered self{
    {.claim = "the taps of the conv and its history are oldest first",
     .applies = applies,
     .check = check,
     .kills = {"conv_taps_flipped", "conv_one_frame_late", "conv_history_stores_output"}}};

}  // namespace
}  // namespace gdn
