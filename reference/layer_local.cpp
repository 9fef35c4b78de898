// The local check: each tensor from what the engine itself fed the operator that makes it, so that
// an error upstream is not blamed downstream.
// Two tensors may be missing between them: absent Q and K are CONV through qk_norm with its bound;
// where S was not read back after every token, the recurrence runs from zero on the inputs that
// were, with the running bound, and S is expected after each call.
#include <algorithm>
#include <optional>
#include <utility>

#include "reference/layer.h"
#include "reference/layer_parts.h"
#include "reference/recurrence.h"

namespace gdn {
namespace {

class LocalCheck {
 public:
  LocalCheck(const LayerInputs& in, const std::vector<TokenTensors>& seen, const Contract& contract,
             const TokenTensors* before)
      : in_(in), seen_(seen), contract_(contract), before_(before), want_(seen.size()) {}

  std::vector<TokenExpectation> run() && {
    for (size_t t = 0; t < seen_.size(); ++t) {
      want_[t] = project_inputs(in_, exactly(in_.h[t]), contract_);
      expect_gates(t);
      expect_conv(t);
      expect_norms(t);
      expect_output(t);
    }
    const auto has_state = [&](size_t t) { return find(t, Tensor::S) != nullptr; };
    bool every_state = before_ == nullptr || find_before(Tensor::S) != nullptr;
    for (size_t t = 0; t < seen_.size(); ++t) every_state = every_state && has_state(t);
    if (every_state) {
      for (size_t t = 0; t < seen_.size(); ++t) expect_token(t);
    } else if (before_ == nullptr) {
      expect_sequence();
    }
    return std::move(want_);
  }

 private:
  // A tensor of a wrong size is as good as absent: judging it says so.
  const std::vector<float>* find_in(const TokenTensors& tensors, Tensor tensor) const {
    const auto at = tensors.find(tensor);
    if (at == tensors.end()) return nullptr;
    const auto count = static_cast<size_t>(element_count(tensor, in_.shape));
    return at->second.size() == count ? &at->second : nullptr;
  }
  const std::vector<float>* find(size_t t, Tensor tensor) const {
    return find_in(seen_[t], tensor);
  }
  // Of what was there before the first token, where that was not zero.
  const std::vector<float>* find_before(Tensor tensor) const {
    return before_ == nullptr ? nullptr : find_in(*before_, tensor);
  }
  std::optional<Bounded> read(size_t t, Tensor tensor) const {
    const std::vector<float>* found = find(t, tensor);
    if (found == nullptr) return std::nullopt;
    return exactly(*found);
  }

  void expect_gates(size_t t) {
    const auto a = read(t, Tensor::A);
    const auto b = read(t, Tensor::B);
    if (!a || !b) return;
    Gates both = gates(*a, *b, in_.weights.A_log, in_.weights.dt_bias, in_.dialect, contract_);
    want_[t][Tensor::BETA] = std::move(both.beta);
    want_[t][Tensor::G] = std::move(both.g);
  }

  // The history before the first token. At one tap there is none, and nothing to be read back.
  std::optional<Bounded> first_history() const {
    if (before_ == nullptr || in_.shape.history_count() == 0) {
      return zeros(in_.shape.history_count());
    }
    const std::vector<float>* found = find_before(Tensor::HIST);
    if (found == nullptr) return std::nullopt;
    return exactly(*found);
  }

  // The engine's own history before token t: as read back, or its earlier QKV and what was there
  // before them.
  std::optional<Bounded> history_before(size_t t) const {
    if (t > 0 && find(t - 1, Tensor::HIST) != nullptr) return read(t - 1, Tensor::HIST);
    std::optional<Bounded> first = first_history();
    if (!first) return std::nullopt;
    const auto taps = static_cast<size_t>(in_.shape.conv_kernel - 1);
    const size_t real = std::min(taps, t);
    const auto width = static_cast<size_t>(in_.shape.conv_dim());
    Bounded history = slice(*first, real * width, (taps - real) * width);
    for (size_t past = t - real; past < t; ++past) {
      const auto qkv = read(past, Tensor::QKV);
      if (!qkv) return std::nullopt;
      history = window_of(history, *qkv);
    }
    return history;
  }

  void expect_conv(size_t t) {
    const auto history = history_before(t);
    const auto qkv = read(t, Tensor::QKV);
    if (!history || !qkv) return;
    const Bounded window = window_of(*history, *qkv);
    want_[t][Tensor::CONV] = conv(window, in_.weights.conv, in_.shape.conv_dim(), contract_);
    want_[t][Tensor::HIST] = history_after(window, in_.shape);
  }

  void expect_norms(size_t t) {
    if (const auto after_conv = read(t, Tensor::CONV)) {
      QkvParts parts = split(*after_conv, in_.shape);
      NormedQk normed = qk_norm(parts.q, parts.k, in_.shape, in_.dialect, contract_);
      want_[t][Tensor::Q] = std::move(normed.q);
      want_[t][Tensor::K] = std::move(normed.k);
      want_[t][Tensor::V] = std::move(parts.v);
    }
    const auto o = read(t, Tensor::O);
    const auto z = read(t, Tensor::Z);
    if (o && z) {
      want_[t][Tensor::ONORM] = gated_norm(*o, *z, in_.weights.norm, in_.shape, contract_);
    }
  }

  void expect_output(size_t t) {
    if (const auto normed = read(t, Tensor::ONORM)) {
      want_[t][Tensor::OUT] =
          project(in_.weights.out, *normed, in_.dialect.activation, contract_.out_proj, contract_);
    }
  }

  // As read back, or else as it must be, with its bound.
  std::optional<Bounded> read_or_expected(size_t t, Tensor tensor) const {
    if (auto found = read(t, tensor)) return found;
    const auto at = want_[t].find(tensor);
    if (at == want_[t].end()) return std::nullopt;
    return as_read_later(at->second);
  }

  std::optional<TokenInputs> token_inputs(size_t t) const {
    const auto q = read_or_expected(t, Tensor::Q);
    const auto k = read_or_expected(t, Tensor::K);
    const auto v = read_or_expected(t, Tensor::V);
    const auto g = read(t, Tensor::G);
    const auto beta = read(t, Tensor::BETA);
    if (!q || !k || !v || !g || !beta) return std::nullopt;
    TokenInputs inputs;
    inputs.q = *q;
    inputs.k = *k;
    inputs.v = *v;
    inputs.g = *g;
    inputs.beta = *beta;
    return inputs;
  }

  void expect_token(size_t t) {
    const bool from_zero = t == 0 && before_ == nullptr;
    const std::vector<float> zero(from_zero ? static_cast<size_t>(in_.shape.state_count()) : 0);
    const std::vector<float>& before = from_zero ? zero
                                       : t == 0  ? *find_before(Tensor::S)
                                                 : *find(t - 1, Tensor::S);
    if (const auto inputs = token_inputs(t)) {
      want_[t][Tensor::S] = delta_rule_state(before, *inputs, in_.shape, in_.dialect, contract_);
    }
    if (const auto q = read_or_expected(t, Tensor::Q)) {
      want_[t][Tensor::O] =
          delta_rule_output(*find(t, Tensor::S), *q, in_.shape, in_.dialect, contract_);
    }
  }

  void expect_sequence() {
    RunningRecurrence running(in_.shape, in_.dialect, contract_);
    size_t t = 0;
    for (const int64_t tokens : calls_of(in_)) {
      std::vector<TokenInputs> call;
      for (size_t i = t; i < t + static_cast<size_t>(tokens); ++i) {
        auto inputs = i < seen_.size() ? token_inputs(i) : std::nullopt;
        if (!inputs) return;
        call.push_back(std::move(*inputs));
      }
      for (Bounded& o : running.call(call)) want_[t++][Tensor::O] = std::move(o);
      if (tokens > 0) want_[t - 1][Tensor::S] = running.state();
    }
  }

  const LayerInputs& in_;
  const std::vector<TokenTensors>& seen_;
  const Contract& contract_;
  const TokenTensors* before_;
  std::vector<TokenExpectation> want_;
};

}  // namespace

std::vector<TokenExpectation> expect_local(const LayerInputs& inputs,
                                           const std::vector<TokenTensors>& seen,
                                           const Contract& contract, const TokenTensors* before) {
  return LocalCheck(inputs, seen, contract, before).run();
}

}  // namespace gdn
