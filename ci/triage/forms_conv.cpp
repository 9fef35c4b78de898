// Faults of the conv: y = silu(sum of the taps, oldest first), and the history that it keeps.
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"

namespace gdn {
namespace {

struct Window {
  size_t channels = 0, taps = 0;
};
Window window_of(const Evidence& at) {
  const size_t channels = at.fed.at("x").size();
  return {channels, channels == 0 ? 0 : at.fed.at("weight").size() / channels};
}

// Another window or other taps for y; the history is right.
FaultForm output(std::string name, std::string sentence,
                 std::function<bool(Evidence& at, const Window& of)> change,
                 std::vector<std::string> explains = {}, double choices = 1) {
  const auto expect = [change = std::move(change)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    Evidence other = at;
    if (!change(other, window_of(at))) return std::nullopt;
    FaultyArrays all = right_of(other, run);
    return FaultyArrays{{"y", std::move(all.at("y"))}};
  };
  return {std::move(name), std::move(sentence), Operator::conv,
          expect,          std::move(explains), choices};
}

bool flip_taps(Evidence& at, const Window& of) {
  std::vector<float>& w = at.fed["weight"];
  for (size_t c = 0; c < of.channels; ++c) {
    const auto first = w.begin() + static_cast<int64_t>(c * of.taps);
    std::reverse(first, first + static_cast<int64_t>(of.taps));
  }
  return of.taps > 1;
}

// The history moved by `frames` towards newer rows, zeros before it.
bool delay(Evidence& at, const Window& of) {
  if (of.taps < 2) return false;
  std::vector<float>& hist = at.fed["hist"];
  std::vector<float> late(hist.size());
  std::copy(hist.begin(), hist.end() - static_cast<int64_t>(of.channels),
            late.begin() + static_cast<int64_t>(of.channels));
  hist = late;
  return true;
}

bool wrap_history(Evidence& at, const Window& of, size_t ring_rows) {
  if (of.taps < ring_rows + 2) return false;
  std::vector<float>& hist = at.fed["hist"];
  for (size_t i = ring_rows * of.channels; i < hist.size(); ++i) {
    hist[i] = hist[i % (ring_rows * of.channels)];
  }
  return true;
}

bool skip_zero_taps(Evidence& at, const Window& of) {
  const std::vector<float>& w = at.fed["weight"];
  std::vector<float>& hist = at.fed["hist"];
  for (size_t c = 0; c < of.channels; ++c) {
    for (size_t j = 0; j < of.taps; ++j) {
      if (w[c * of.taps + j] != 0) continue;
      float& input = j + 1 < of.taps ? hist[j * of.channels + c] : at.fed["x"][c];
      if (!std::isfinite(input)) input = 0;
    }
  }
  return true;
}

bool transpose_taps(Evidence& at, const Window& of) {
  std::vector<float>& w = at.fed["weight"];
  const std::vector<float> was = w;
  for (size_t i = 0; i < w.size(); ++i) w[i] = was[i % of.taps * of.channels + i / of.taps];
  return of.taps > 1;
}

const RegisteredForm outputs[] = {
    output("conv_taps_flipped", "the taps are newest first", flip_taps),
    output("conv_taps_transposed", "the taps are read as [taps][channels]", transpose_taps),
    output("conv_one_frame_late", "the history is read one frame late", delay),
    output("conv_history_of_four_rows",
           "of a history of more than four rows the later ones are read as the first ones",
           [](Evidence& at, const Window& of) { return wrap_history(at, of, 4); }),
    output("conv_history_of_three_rows",
           "of a history of more than three rows the later ones are read as the first ones",
           [](Evidence& at, const Window& of) { return wrap_history(at, of, 3); }),
    output("zero_tap_skips_infinite_input", "a tap of weight 0 is skipped: 0 times infinity is 0",
           skip_zero_taps),
    output("conv_history_ignored", "the history counts as zeros",
           [](Evidence& at, const Window& of) {
             std::fill(at.fed["hist"].begin(), at.fed["hist"].end(), 0.0F);
             return of.taps > 1;
           },
           {"short_call_zeroes_older_history"}),
    output("conv_newest_left_out", "the newest input is left out",
           [](Evidence& at, const Window&) {
             std::fill(at.fed["x"].begin(), at.fed["x"].end(), 0.0F);
             return true;
           }),
    output("conv_oldest_left_out", "the oldest tap is left out",
           [](Evidence& at, const Window& of) {
             for (size_t c = 0; c < of.channels; ++c) at.fed["weight"][c * of.taps] = 0;
             return of.taps > 1;
           }),
    output("conv_history_reversed", "the history is read newest first",
           [](Evidence& at, const Window& of) {
             std::vector<float>& hist = at.fed["hist"];
             const std::vector<float> was = hist;
             for (size_t i = 0; i < hist.size(); ++i) {
               const size_t row = of.taps - 2 - i / of.channels;
               hist[i] = was[row * of.channels + i % of.channels];
             }
             return of.taps > 2;
           }),
    output("conv_taps_of_the_first_channel", "every channel takes the taps of the first",
           [](Evidence& at, const Window& of) {
             std::vector<float>& w = at.fed["weight"];
             for (size_t i = 0; i < w.size(); ++i) w[i] = w[i % of.taps];
             return of.channels > 1;
           })};

// Kernels for a number of taps: what comes after them is left out.
std::vector<RegisteredForm> short_kernels() {
  std::vector<RegisteredForm> forms;
  constexpr size_t reaches[] = {2, 3, 4, 8, 16};
  const char* const names[] = {"two", "three", "four", "eight", "sixteen"};
  for (size_t i = 0; i < std::size(reaches); ++i) {
    const std::string count = names[i];
    forms.emplace_back(output(
        "conv_of_the_first_" + count + "_taps", "taps beyond the first " + count + " are left out",
        [reach = reaches[i]](Evidence& at, const Window& of) {
          std::vector<float>& w = at.fed["weight"];
          for (size_t j = 0; j < w.size(); ++j) {
            if (j % of.taps >= reach) w[j] = 0;
          }
          return of.taps > reach;
        },
        {}, std::size(reaches)));
  }
  return forms;
}
const std::vector<RegisteredForm> kernels = short_kernels();

// Channel `to` takes the taps of `from`.
void take_taps(Evidence& at, const Window& of, size_t to, size_t from) {
  std::vector<float>& w = at.fed["weight"];
  std::copy_n(w.begin() + static_cast<int64_t>(from * of.taps), of.taps,
              w.begin() + static_cast<int64_t>(to * of.taps));
}

const RegisteredForm neighbours[] = {
    output("conv_taps_of_the_neighbour", "the last channel takes the taps of the one before it",
           [](Evidence& at, const Window& of) {
             if (of.channels > 1) take_taps(at, of, of.channels - 1, of.channels - 2);
             return of.channels > 1;
           }),
    output("conv_taps_of_the_next_channel", "each channel takes the taps of the next",
           [](Evidence& at, const Window& of) {
             for (size_t c = 0; c + 1 < of.channels; ++c) take_taps(at, of, c, c + 1);
             return of.channels > 1;
           }),
    output("conv_taps_of_the_channel_before", "each channel takes the taps of the one before",
           [](Evidence& at, const Window& of) {
             for (size_t c = of.channels; c-- > 1;) take_taps(at, of, c, c - 1);
             return of.channels > 1;
           })};

// The sum of the taps, by the book, and what becomes of it.
FaultForm activation(std::string name, std::string sentence,
                     std::function<Ball(const Ball& sum, const Contract&)> rule) {
  const auto expect = [rule = std::move(rule)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    const Window of = window_of(at);
    const std::vector<float>& w = at.fed.at("weight");
    std::vector<Ball> y, taps(of.taps), inputs(of.taps);
    for (size_t c = 0; c < of.channels; ++c) {
      for (size_t j = 0; j < of.taps; ++j) {
        const bool newest = j + 1 == of.taps;
        taps[j] = exact_ball(w[c * of.taps + j]);
        inputs[j] = exact_ball(newest ? at.fed.at("x")[c] : at.fed.at("hist")[j * of.channels + c]);
      }
      y.push_back(rule(dot_of(taps, inputs), run.contract));
    }
    return FaultyArrays{{"y", bounded_from(y)}};
  };
  return {std::move(name), std::move(sentence), Operator::conv, expect};
}

const RegisteredForm activations[] = {
    activation("conv_without_silu", "the conv's sum is given without silu",
               [](const Ball& sum, const Contract&) { return sum; }),
    activation("conv_with_sigmoid", "the conv's sum goes through sigmoid in place of silu",
               [](const Ball& sum, const Contract& c) { return sigmoid_of(sum, c); }),
    activation("conv_silu_twice", "the conv's sum goes through silu twice",
               [](const Ball& sum, const Contract& c) { return silu_of(silu_of(sum, c), c); }),
    activation("conv_sum_rounded_to_bf16", "the conv's sum is rounded to bf16 before silu",
               [](const Ball& sum, const Contract& c) {
                 return silu_of(rounded_to(Format::bf16, sum), c);
               }),
    activation("conv_sum_rounded_to_f16", "the conv's sum is rounded to f16 before silu",
               [](const Ball& sum, const Contract& c) {
                 return silu_of(rounded_to(Format::f16, sum), c);
               })};

// Another history after the token; y is right.
FaultForm history(std::string name, std::string sentence,
                  std::function<std::vector<float>(const Evidence& at, const Window& of)> after,
                  std::vector<std::string> explains = {}) {
  const auto expect = [after = std::move(after)](
                          const Evidence& at, const OperatorRun&) -> std::optional<FaultyArrays> {
    const Window of = window_of(at);
    if (of.taps < 2 || !at.gave.contains("hist")) return std::nullopt;
    return FaultyArrays{{"hist", exactly(after(at, of))}};
  };
  return {std::move(name), std::move(sentence), Operator::conv, expect, std::move(explains)};
}

// The right history with its newest row replaced.
std::vector<float> ending_with(const Evidence& at, const Window& of, const float* row) {
  const std::vector<float>& hist = at.fed.at("hist");
  std::vector<float> after(hist.begin() + static_cast<int64_t>(of.channels), hist.end());
  after.insert(after.end(), row, row + of.channels);
  return after;
}

const RegisteredForm histories[] = {
    history("conv_history_stores_output", "the history takes the output in place of the input",
            [](const Evidence& at, const Window& of) {
              return ending_with(at, of, at.gave.at("y").data());
            }),
    history("conv_history_not_advanced", "the history stays as it was",
            [](const Evidence& at, const Window&) { return at.fed.at("hist"); }),
    history("newest_history_row_overwritten",
            "the history is not shifted: the input replaces its newest row",
            [](const Evidence& at, const Window& of) {
              std::vector<float> after = at.fed.at("hist");
              const std::vector<float>& x = at.fed.at("x");
              std::copy(x.begin(), x.end(), after.end() - static_cast<int64_t>(of.channels));
              return after;
            }),
    history("conv_history_cleared", "the history is zero after the token",
            [](const Evidence& at, const Window&) {
              return std::vector<float>(at.fed.at("hist").size());
            }),
    history("conv_history_takes_zero", "the history takes zeros in place of the input",
            [](const Evidence& at, const Window& of) {
              return ending_with(at, of, std::vector<float>(of.channels).data());
            })};

}  // namespace
}  // namespace gdn
