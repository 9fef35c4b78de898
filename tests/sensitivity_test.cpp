// How small a fault the checks see: every element of every tensor that a capture holds is moved by
// 64 ulp and has its sign flipped, one at a time, and the share that is seen is counted. What must
// be seen in full is required; the rest is printed.
// What a tensor must be does not depend on its own captured value, so that the expectations of a
// file are computed once. `undecided` counts as missed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "invariants/harness/verdict.h"
#include "invariants/harness/verify.h"
#include "reference/exact_dot.h"
#include "reference/layer_parts.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// One tensor of a capture, all tokens one after the other.
struct Subject {
  std::string name;
  std::vector<float> got;
  Bounded want;
  std::vector<double> sum_abs;  // sum |x w| behind each element; empty: no such sum
  bool ulps_must_show = false;  // 64 ulp of the element
  bool sums_must_show = false;  // 64 ulp of sum |x w|
};

struct Share {
  size_t seen = 0, tried = 0;
  void count(bool was_seen) {
    seen += was_seen ? 1 : 0;
    ++tried;
  }
  bool all() const { return seen == tried; }
  std::string text() const {
    if (tried == 0) return "-";
    return fmt::format("{:.4g} % of {}",
                       100.0 * static_cast<double>(seen) / static_cast<double>(tried), tried);
  }
};

std::optional<Capture> capture_of(const std::string& name) {
  std::string why;
  auto capture = read_capture(SOURCE_DIR "/corpus/oracle/" + name + ".safetensors", &why);
  EXPECT_TRUE(capture.has_value()) << why;
  return capture;
}

void append(Bounded& all, const Bounded& more) {
  const size_t shift = all.size();
  all.stored = more.stored;
  all.bound.resize(all.size(), 0.0);
  all.value.insert(all.value.end(), more.value.begin(), more.value.end());
  for (size_t i = 0; i < more.size(); ++i) all.bound.push_back(more.bound_of(i));
  for (Tolerated tolerated : more.tolerated) {
    tolerated.index += shift;
    all.tolerated.push_back(tolerated);
  }
}

bool is_seen(const Subject& subject, size_t index, float moved) {
  const std::vector<float> one = {moved};
  return within(subject.name, one, slice(subject.want, index, 1)).outcome == Outcome::fails;
}

double ulp_of(double number) {
  const double size = std::max(std::abs(number), double{std::numeric_limits<float>::min()});
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

// Up and down alike: a fault has no side.
Share share_of_steps(const Subject& subject, const std::vector<double>& steps) {
  Share share;
  for (size_t i = 0; i < subject.got.size(); ++i) {
    for (const double sign : {1.0, -1.0}) {
      share.count(is_seen(subject, i, static_cast<float>(subject.got[i] + sign * steps[i])));
    }
  }
  return share;
}

// 64 ulp of the element; a number stored in bf16 has no such neighbour and moves by 2^-6 of itself.
Share share_of_ulps(const Subject& subject) {
  std::vector<double> steps;
  for (const float number : subject.got) {
    steps.push_back(subject.want.stored == Format::bf16 ? 0x1p-6 * std::abs(number)
                                                        : 64 * ulp_of(number));
  }
  return share_of_steps(subject, steps);
}

Share share_of_sums(const Subject& subject) {
  std::vector<double> steps;
  for (const double sum : subject.sum_abs) steps.push_back(64 * ulp_of(sum));
  return subject.sum_abs.empty() ? Share{} : share_of_steps(subject, steps);
}

// Of the elements above a hundredth of the tensor's largest.
Share share_of_flips(const Subject& subject) {
  float largest = 0;
  for (const float number : subject.got) largest = std::max(largest, std::abs(number));
  Share share;
  for (size_t i = 0; i < subject.got.size(); ++i) {
    if (std::abs(subject.got[i]) <= largest / 100) continue;
    share.count(is_seen(subject, i, -subject.got[i]));
  }
  return share;
}

void require_and_print(const std::string& file, const std::vector<Subject>& subjects) {
  fmt::print("{:<26}{:<12}{:<22}{:<22}{:<22}\n", file, "tensor", "sign flips", "64 ulp",
             "64 ulp of sum |xw|");
  for (const Subject& subject : subjects) {
    ASSERT_EQ(subject.got.size(), subject.want.size()) << subject.name;
    const Share flips = share_of_flips(subject);
    const Share ulps = share_of_ulps(subject);
    const Share sums = share_of_sums(subject);
    fmt::print("{:<26}{:<12}{:<22}{:<22}{:<22}\n", "", subject.name, flips.text(), ulps.text(),
               sums.text());
    EXPECT_GT(flips.tried, 0U) << subject.name;
    EXPECT_TRUE(flips.all()) << subject.name << ": flips " << flips.text();
    if (subject.ulps_must_show) {
      EXPECT_TRUE(ulps.all()) << subject.name << ": 64 ulp " << ulps.text();
    }
    if (subject.sums_must_show) {
      EXPECT_GT(sums.tried, 0U) << subject.name;
      EXPECT_TRUE(sums.all()) << subject.name << ": 64 ulp of sum |xw| " << sums.text();
    }
  }
}

// What the projections and the convolution sum up, token by token, from what was captured.
class Sums {
 public:
  explicit Sums(const LayerCapture& capture) : capture_(capture), in_(capture.inputs) {}

  void append_to(std::vector<double>& sums, Tensor tensor, size_t t) const {
    const LayerWeights& w = in_.weights;
    switch (tensor) {
      case Tensor::QKV:
        return project(sums, w.qkv, in_.h[t]);
      case Tensor::Z:
        return project(sums, w.z, in_.h[t]);
      case Tensor::A:
        return project(sums, w.a, in_.h[t]);
      case Tensor::B:
        return project(sums, w.b, in_.h[t]);
      case Tensor::OUT:
        return project(sums, w.out, capture_.seen[t].at(Tensor::ONORM));
      case Tensor::CONV:
        return convolve(sums, t);
      default:
        return;
    }
  }

 private:
  static void project(std::vector<double>& sums, const Matrix& w, const std::vector<float>& x) {
    std::vector<ExactDot> rows(static_cast<size_t>(w.rows));
    exact_matvec(w.f32, w.rows, w.cols, std::span<const float>(x), rows);
    for (const ExactDot& row : rows) sums.push_back(row.sum_abs);
  }

  void convolve(std::vector<double>& sums, size_t t) const {
    const auto channels = static_cast<size_t>(in_.shape.conv_dim());
    const auto taps = static_cast<size_t>(in_.shape.conv_kernel);
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (size_t back = 0; back < taps && back <= t; ++back) {
        const float weight = in_.weights.conv[c * taps + taps - 1 - back];
        sum += std::abs(double{weight} * capture_.seen[t - back].at(Tensor::QKV)[c]);
      }
      sums.push_back(sum);
    }
  }

  const LayerCapture& capture_;
  const LayerInputs& in_;
};

// The terms of each sum, where the tensor is made by one.
int64_t terms_of(Tensor tensor, const Shape& shape) {
  return tensor == Tensor::OUT ? shape.v_dim() : shape.hidden_size;
}

Subject subject_of(const LayerCapture& capture, const std::vector<TokenExpectation>& want,
                   Tensor tensor) {
  const Shape& shape = capture.inputs.shape;
  const Sums sums(capture);
  Subject subject;
  subject.name = name_of(tensor);
  for (size_t t = 0; t < want.size(); ++t) {
    const std::vector<float>& got = capture.seen[t].at(tensor);
    subject.got.insert(subject.got.end(), got.begin(), got.end());
    append(subject.want, want[t].at(tensor));
    sums.append_to(subject.sum_abs, tensor, t);
  }
  const bool gate = tensor == Tensor::G || tensor == Tensor::BETA;
  subject.ulps_must_show = gate || (tensor == Tensor::ONORM && shape.head_v_dim <= 32);
  subject.sums_must_show =
      tensor == Tensor::CONV || (!subject.sum_abs.empty() && terms_of(tensor, shape) <= 128);
  return subject;
}

class OfALayer : public testing::TestWithParam<const char*> {};

TEST_P(OfALayer, FaultsOfOneElementAreSeen) {
  const auto capture = capture_of(GetParam());
  ASSERT_TRUE(capture.has_value());
  const auto& layer = std::get<LayerCapture>(capture->content);
  const auto want = expect_local(layer.inputs, layer.seen, contract_of_source(layer));
  std::vector<Subject> subjects;
  for (const auto& [tensor, numbers] : layer.seen.front()) {
    subjects.push_back(subject_of(layer, want, tensor));
  }
  Subject state;
  state.name = "S";
  for (const CapturedHead& head : layer.final_state) {
    const size_t size = head.values.size();
    append(state.want,
           slice(want.back().at(Tensor::S), static_cast<size_t>(head.head) * size, size));
    state.got.insert(state.got.end(), head.values.begin(), head.values.end());
  }
  subjects.push_back(std::move(state));
  require_and_print(GetParam(), subjects);
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, OfALayer,
                         testing::Values("gdn_tiny_decode", "gdn_small_prefill_decode",
                                         "gdn_qwen35_27b_l0", "gdn_long_memory"),
                         [](const auto& parameter) { return std::string(parameter.param); });

class OfATrace : public testing::TestWithParam<const char*> {};

TEST_P(OfATrace, FaultsOfOneElementAreSeen) {
  const auto capture = capture_of(GetParam());
  ASSERT_TRUE(capture.has_value());
  const auto& trace = std::get<TraceCapture>(capture->content);
  const TraceExpectation want = expect_trace(trace, trace.dialect, contract_of_source(trace));
  Subject output;
  output.name = "O";
  output.got = trace.o;
  for (const Bounded& token : want.o) append(output.want, token);
  Subject state;
  state.name = "S";
  state.got = canonical_state(trace.final_state, trace.shape, trace.dialect.state_layout);
  state.want = want.final_state;
  require_and_print(GetParam(), {output, state});
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, OfATrace,
                         testing::Values("fla_recurrent_f32", "fla_recurrent_bf16",
                                         "fla_recurrent_gk_f32", "fla_recurrent_long_f32",
                                         "ggml_gdn_cpu"),
                         [](const auto& parameter) { return std::string(parameter.param); });

// Inputs have no expectation of their own: a fault in them shows where what follows no longer fits.
class Inputs {
 public:
  explicit Inputs(LayerCapture& capture) {
    for (auto& [name, numbers] : capture.matrices) arrays_.emplace_back(name, &numbers);
    LayerWeights& w = capture.inputs.weights;
    arrays_.emplace_back("conv1d.weight", &w.conv);
    arrays_.emplace_back("A_log", &w.A_log);
    arrays_.emplace_back("dt_bias", &w.dt_bias);
    arrays_.emplace_back("norm.weight", &w.norm);
    for (std::vector<float>& row : capture.inputs.h) arrays_.emplace_back("h", &row);
  }
  const std::vector<std::pair<std::string, std::vector<float>*>>& arrays() const { return arrays_; }

 private:
  std::vector<std::pair<std::string, std::vector<float>*>> arrays_;
};

bool is_seen(const LayerCapture& capture) {
  const auto want = expect_local(capture.inputs, capture.seen, contract_of_source(capture));
  return verdict_of(judge(capture.seen, want)).outcome == Outcome::fails;
}

TEST(Sensitivity, MostFlipsOfInputsAndWeightsShow) {
  auto capture = capture_of("gdn_tiny_decode");
  ASSERT_TRUE(capture.has_value());
  auto& layer = std::get<LayerCapture>(capture->content);
  ASSERT_FALSE(is_seen(layer));
  struct Shares {
    Share flips, ulps;
  };
  std::map<std::string, Shares> shares;
  constexpr int trials_of_each = 4;
  Rng random{20};
  const Inputs inputs(layer);
  for (const auto& [name, numbers] : inputs.arrays()) {
    for (int trial = 0; trial < trials_of_each; ++trial) {
      float& number = (*numbers)[static_cast<size_t>(
          random.range(0, static_cast<int64_t>(numbers->size()) - 1))];
      const float before = number;
      number = -before;
      shares[name].flips.count(is_seen(layer));
      number = static_cast<float>(before + 64 * ulp_of(before));
      shares[name].ulps.count(is_seen(layer));
      number = before;
    }
  }
  fmt::print("{:<26}{:<22}{:<22}{:<22}\n", "gdn_tiny_decode", "input", "sign flips", "64 ulp");
  Share flips;
  for (const auto& [name, share] : shares) {
    fmt::print("{:<26}{:<22}{:<22}{:<22}\n", "", name, share.flips.text(), share.ulps.text());
    flips.seen += share.flips.seen;
    flips.tried += share.flips.tried;
  }
  // A weight or input near zero may hide; most may not.
  EXPECT_GT(2 * flips.seen, flips.tried);
}

}  // namespace
}  // namespace gdn
