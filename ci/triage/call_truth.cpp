// Histories of layers, replayed by steps and worked out by the reference.
#include "ci/triage/call_truth.h"

#include <algorithm>

#include "invariants/harness/verdict.h"
#include "invariants/harness/weights_used.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// Multiplications of a history that the reference is asked about: about a second.
constexpr int64_t products_max = int64_t{1} << 27;

}  // namespace

CallTruth::CallTruth(const Lab& lab, const Case& bare) : lab_(lab), bare_(bare.with_calls({})) {
  close();
  std::string why;
  numbers_ = materialise(bare_, &why);
}

const LayerBits* CallTruth::stepped(const std::vector<Fed>& fed, size_t place) {
  Verdict why;
  if (place > 0 && lab_.contract().recurrence != Recurrence::token_loop) return nullptr;
  return replays_->after(fed, place, &why);
}

const std::vector<float>* CallTruth::stepped_out(const std::vector<Fed>& fed, size_t place) {
  Verdict why;
  if (lab_.contract().recurrence != Recurrence::token_loop) return nullptr;
  return replays_->out(fed, place, &why);
}

// How tokens were cut into calls matters to an engine that works chunk by chunk alone.
uint64_t CallTruth::key_of(const std::vector<Fed>& fed, size_t place) const {
  uint64_t key = fed[place].history;
  if (lab_.contract().recurrence == Recurrence::token_loop) return key;
  for (size_t at = place; at > 0; at = fed[at].before) key = mix64(key ^ fed[at].call);
  return key;
}

bool CallTruth::work_out(const std::vector<Fed>& fed, size_t place) {
  const WeightsUsed& weights = fed[place].weights;
  if (!numbers_ || !are_plain(weights, bare_)) return false;
  std::vector<size_t> places;
  for (size_t at = place; at > 0; at = fed[at].before) {
    if (fed[at].out_of > 0 || !(fed[at].weights == weights)) return false;
    places.push_back(at);
  }
  std::reverse(places.begin(), places.end());
  const Shape& s = bare_.shape;
  const int64_t products = s.hidden_size * (s.conv_dim() + 2 * s.v_dim()) + 4 * s.state_count();
  if (static_cast<int64_t>(places.size()) > products_max / products) return false;
  LayerInputs inputs;
  inputs.shape = s;
  inputs.dialect = bare_.dialect;
  inputs.weights = weights_used(*numbers_, weights, s);
  for (size_t i = 0; i < places.size(); ++i) {
    const Fed& token = fed[places[i]];
    inputs.h.push_back(numbers_->h[static_cast<size_t>(token.row)]);
    const bool is_first = i == 0 || fed[places[i - 1]].call != token.call;
    if (is_first) inputs.calls.push_back(0);
    ++inputs.calls.back();
  }
  std::vector<TokenExpectation> tokens = expect_global(inputs, lab_.contract());
  for (size_t i = 0; i < places.size(); ++i) {
    known_.emplace(key_of(fed, places[i]), std::move(tokens[i]));
  }
  return true;
}

const TokenExpectation* CallTruth::bounds(const std::vector<Fed>& fed, size_t place) {
  if (place == 0) return &known_.try_emplace(0, zero_state(bare_.shape)).first->second;
  const uint64_t key = key_of(fed, place);
  const auto known = known_.find(key);
  if (known != known_.end()) return &known->second;
  return work_out(fed, place) ? &known_.at(key) : nullptr;
}

bool CallTruth::allows(const std::vector<Fed>& fed, size_t place, Tensor tensor,
                       std::span<const float> got) {
  const TokenExpectation* const want = bounds(fed, place);
  return want != nullptr && within("", got, want->at(tensor)).outcome == Outcome::holds;
}

bool CallTruth::steps_to(const std::vector<Fed>& fed, size_t place, Tensor tensor,
                         std::span<const float> got) {
  const LayerBits* const want = stepped(fed, place);
  return want != nullptr && equal_bits(got, want->at(tensor));
}

size_t with_token(std::vector<Fed>& fed, size_t before, const WeightsUsed& weights, int64_t row) {
  uint64_t history = mix64(fed[before].history ^ static_cast<uint64_t>(row) << 8);
  for (const MatrixUsed& m : weights.large) {
    history = mix64(history ^ static_cast<uint64_t>(m.weights));
  }
  history = mix64(history + static_cast<uint64_t>(2 * weights.small + weights.from_pool));
  fed.push_back({before, weights, row, 0, SIZE_MAX, history});
  return fed.size() - 1;
}

}  // namespace gdn
