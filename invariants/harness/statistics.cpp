// Four tests of errors, and the controls that say whether they mean anything.
#include "invariants/harness/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

using Stage = Reduction::Stage;

constexpr double tests = 4;

Reduction ordered(std::vector<Stage> stages) {
  Reduction order;
  order.kind = Reduction::Kind::order;
  order.stages = std::move(stages);
  return order;
}

// Of an engine that does not say how it sums: a plain loop, a warp, vectors of four chains, pairs.
std::vector<Reduction> plausible_orders() {
  return {ordered({{Stage::Kind::serial, 0, false}}),
          ordered({{Stage::Kind::stride, 32, true}, {Stage::Kind::tree_adjacent, 0, false}}),
          ordered({{Stage::Kind::stride, 128, true}, {Stage::Kind::tree_halves, 0, false}}),
          ordered({{Stage::Kind::tree_adjacent, 0, false}})};
}

// 2 exp(-lambda^2 / 2) = odds.
double lambda_of(double odds) { return std::sqrt(2 * std::log(2 / odds)); }

// |sum a e| against lambda sqrt(sum a^2 s^2), a = weight / s.
Oddity leaning(const char* what, const SumErrors& errors, double lambda,
               double (*weight)(const RoundingSpread&)) {
  double sum = 0, certain = 0, squares = 0;
  for (size_t i = 0; i < errors.error.size(); ++i) {
    const RoundingSpread& spread = errors.spread[i];
    if (spread.deviation == 0) continue;
    const double a = weight(spread);
    sum += a * errors.error[i] / spread.deviation;
    certain += std::abs(a) * spread.certain / spread.deviation;
    squares += a * a;
  }
  return {what, std::abs(sum), lambda * std::sqrt(squares) + certain};
}

double one(const RoundingSpread&) { return 1; }
double drift_over_deviation(const RoundingSpread& spread) {
  return spread.drift / spread.deviation;
}

}  // namespace

void SumErrors::add(std::span<const float> got, const std::vector<RoundingSpread>& more) {
  for (size_t i = 0; i < more.size(); ++i) error.push_back(got[i] - more[i].value);
  spread.insert(spread.end(), more.begin(), more.end());
}

std::vector<Oddity> oddities(const SumErrors& errors, double odds_of_test) {
  double count = 0, squares = 0, largest = 0;
  for (size_t i = 0; i < errors.error.size(); ++i) {
    const RoundingSpread& spread = errors.spread[i];
    if (spread.deviation == 0) continue;
    const double beyond = std::max(0.0, std::abs(errors.error[i]) - spread.certain);
    const double z = beyond / spread.deviation;
    squares += z * z;
    largest = std::max(largest, z);
    ++count;
  }
  if (count == 0) return {};
  const double lambda = lambda_of(odds_of_test);
  // Of a sub-Gaussian vector: Hsu, Kakade and Zhang, A tail inequality for quadratic forms of
  // subgaussian random vectors, Electron. Commun. Probab. 17 (2012), theorem 2.1.
  const double t = std::log(1 / odds_of_test);
  return {leaning("errors lean to one side", errors, lambda, one),
          leaning("errors lean towards or away from zero", errors, lambda, drift_over_deviation),
          {"errors are too large in all", std::sqrt(squares / count),
           std::sqrt(1 + 2 * std::sqrt(t / count) + 2 * t / count)},
          {"an error is too large", largest, lambda_of(odds_of_test / count)}};
}

ProjectionErrors::ProjectionErrors(const Reduction& order) {
  control_orders_ =
      order.kind == Reduction::Kind::order ? std::vector<Reduction>{order} : plausible_orders();
  controls_.resize(control_orders_.size());
}

bool ProjectionErrors::add(std::span<const float> got, const float* w, int64_t rows, int64_t cols,
                           std::span<const float> x) {
  const bool finite = std::all_of(got.begin(), got.end(), [](float y) { return std::isfinite(y); });
  if (!finite || got.size() != static_cast<size_t>(rows)) return false;
  std::vector<RoundingSpread> widest;
  for (size_t c = 0; c < controls_.size(); ++c) {
    const Reduction& order = control_orders_[c];
    const std::vector<RoundingSpread> own = rounding_spreads(order, w, rows, cols, x);
    if (own.empty()) return false;
    controls_[c].add(float32_sums(order, w, rows, cols, x), own);
    if (widest.empty()) widest = own;
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].deviation > widest[i].deviation) widest[i] = own[i];
    }
  }
  engine_.add(got, widest);
  return true;
}

Verdict ProjectionErrors::verdict(std::string_view what) const {
  for (const SumErrors& control : controls_) {
    for (const Oddity& odd : oddities(control, control_odds_of_test)) {
      if (odd.ratio() <= 1) continue;
      Verdict verdict;
      verdict.tensors = 1;
      verdict.elements = engine_.error.size();
      verdict.detail = fmt::format("{}: on these numbers rounding takes sides: of a right sum {}",
                                   what, odd.what);
      return verdict;
    }
  }
  return verdict_without_controls(what);
}

Verdict ProjectionErrors::verdict_without_controls(std::string_view what) const {
  Verdict verdict;
  verdict.tensors = 1;
  verdict.elements = engine_.error.size();
  const std::vector<Oddity> seen = oddities(engine_, alarm_odds_of_tensor / tests);
  if (seen.empty()) {
    verdict.detail = fmt::format("{}: no sum that rounding can move", what);
    return verdict;
  }
  verdict.outcome = Outcome::holds;
  for (const Oddity& odd : seen) {
    if (odd.ratio() <= verdict.worst_ratio) continue;
    verdict.worst_ratio = odd.ratio();
    if (odd.ratio() <= 1) continue;
    verdict.outcome = Outcome::suspicious;
    verdict.detail = fmt::format(
        "{}: {}, {:.3g} where rounding to nearest exceeds {:.3g} with odds of {:.2g}; {} elements",
        what, odd.what, odd.statistic, odd.limit, alarm_odds_of_tensor / tests, verdict.elements);
  }
  return verdict;
}

}  // namespace gdn
