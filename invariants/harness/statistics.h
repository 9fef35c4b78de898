// The statistical tier, beneath the proven bound: do the errors of a tensor look like rounding to
// nearest? Odds are stated, not fitted; docs/statistics.md derives them and says what they rest on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/verdict.h"
#include "reference/case.h"
#include "reference/contract.h"
#include "reference/rounding_spread.h"

namespace gdn {

// A nightly run judges some 10^6 tensors and may cry wolf once in a thousand nights. The tests of
// a tensor share its odds.
inline constexpr double alarm_odds_of_tensor = 1e-3 / 1e6;
// Data on which a right evaluation of our own looks odd already at these odds, test by test, does
// not make errors that take no side: nothing can be said of it.
inline constexpr double control_odds_of_test = 1e-2;

// Errors of sums of one kind, all elements of a tensor.
struct SumErrors {
  std::vector<double> error;
  std::vector<RoundingSpread> spread;

  void add(std::span<const float> got, const std::vector<RoundingSpread>& more);
};

// One statistic against the limit that it exceeds with the odds given.
struct Oddity {
  const char* what = "";
  double statistic = 0, limit = 0;

  double ratio() const { return limit > 0 ? statistic / limit : 0; }
};
// The four tests, each at these odds: errors lean to one side; they lean towards or away from
// zero; they are too large in all; one is too large. Empty where no element has a spread.
std::vector<Oddity> oddities(const SumErrors& errors, double odds_of_test);

// A product of a weight matrix and what it was fed, evaluated by an engine and by controls: in the
// order that the engine declares; else in several plausible ones, and an error is measured against
// the widest spread among them, which is an estimate and no theorem.
class ProjectionErrors {
 public:
  explicit ProjectionErrors(const Reduction& order);

  // False where the theorem says nothing of these numbers; they are left out.
  bool add(std::span<const float> got, const float* w, int64_t rows, int64_t cols,
           std::span<const float> x);
  // holds, suspicious, or not_applicable with the reason. worst_ratio is that of a statistic.
  Verdict verdict(std::string_view what) const;
  // As if the theorem held of any numbers.
  Verdict verdict_without_controls(std::string_view what) const;
  const SumErrors& of_engine() const { return engine_; }
  const std::vector<SumErrors>& of_controls() const { return controls_; }

 private:
  std::vector<Reduction> control_orders_;
  SumErrors engine_;
  std::vector<SumErrors> controls_;
};

// Each projection of a case, all tokens of a tensor in one; empty, and *why, where there is none of
// which the theorem says anything. As the engine's contract orders sums, or as `order` does.
struct NamedErrors {
  std::string tensor;
  ProjectionErrors errors;
};
std::vector<NamedErrors> projection_errors(const Case& c, const Lab& lab,
                                           const std::optional<Reduction>& order, Verdict* why);

}  // namespace gdn
