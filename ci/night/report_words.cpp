// Names, figures and dates in words, and what stands where.
#include "ci/night/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/tensor.h"

namespace gdn {
namespace {

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// The place of an operator; behind the last, that of a name that is none.
int rank_of(const std::string& op) {
  const std::optional<Operator> known = operator_named(op);
  return known ? static_cast<int>(*known) : static_cast<int>(Operator::dequant) + 1;
}

}  // namespace

std::vector<TensorName> tensors_of(const NightReport& report) {
  std::vector<TensorName> names;
  for (const NightTensor& tensor : report.night.tensors) {
    add_once(names, TensorName{tensor.op, tensor.tensor});
  }
  for (const Trend& trend : report.view.trends) add_once(names, TensorName{trend.op, trend.tensor});
  std::vector<TensorName> sorted;
  for (int rank = 0; rank <= rank_of(""); ++rank) {
    for (const TensorName& name : names) {
      if (rank_of(name.op) == rank) sorted.push_back(name);
    }
  }
  return sorted;
}

std::vector<std::string> operators_of(const NightReport& report) {
  std::vector<std::string> names;
  for (const TensorName& name : tensors_of(report)) add_once(names, name.op);
  return names;
}

std::vector<std::string> engines_of(const NightReport& report) {
  std::vector<std::string> names;
  for (const NightTensor& tensor : report.night.tensors) add_once(names, tensor.engine);
  for (const Trend& trend : report.view.trends) add_once(names, trend.engine);
  return names;
}

const NightTensor* find_tensor(const Night& night, const TensorName& name,
                               const std::string& engine) {
  for (const NightTensor& tensor : night.tensors) {
    if (tensor.engine == engine && tensor.op == name.op && tensor.tensor == name.tensor) {
      return &tensor;
    }
  }
  return nullptr;
}

// Of several panel versions the one that comes last is the newest.
const Trend* find_trend(const HistoryView& view, const TensorName& name,
                        const std::string& engine) {
  const Trend* found = nullptr;
  for (const Trend& trend : view.trends) {
    if (trend.engine != engine || trend.op != name.op || trend.tensor != name.tensor) continue;
    if (found == nullptr || trend.points.empty() || found->points.empty() ||
        trend.points.back().began >= found->points.back().began) {
      found = &trend;
    }
  }
  return found;
}

std::vector<const KnownFinding*> findings_in(const NightReport& report, std::string_view state) {
  std::vector<const KnownFinding*> found;
  for (const KnownFinding& finding : report.view.findings) {
    if (finding.state == state) found.push_back(&finding);
  }
  return found;
}

std::vector<NightGap> gaps_of(const Night& night) {
  std::vector<NightGap> gaps;
  for (const NightGap& gap : night.gaps) {
    const bool said = std::any_of(gaps.begin(), gaps.end(), [&](const NightGap& other) {
      return other.what == gap.what && other.why == gap.why;
    });
    if (!said) gaps.push_back(gap);
  }
  return gaps;
}

std::vector<const NightStage*> stages_not_run(const Night& night) {
  std::vector<const NightStage*> found;
  for (const NightStage& stage : night.stages) {
    if (stage.state == "not_run") found.push_back(&stage);
  }
  return found;
}

std::string state_words(const std::string& state) {
  if (state == "not_run") return "did not run";
  return state == "timed_out" ? "timed out" : state;
}

std::string title_of(const NightFinding& finding) {
  const std::string op = finding.op.empty() ? "" : fmt::format(" ({})", finding.op);
  const std::string cause = finding.diagnosis.empty() ? "" : fmt::format(": {}", finding.diagnosis);
  return fmt::format("{} fails on {}{}{}", finding.invariant, finding.engine, op, cause);
}

std::vector<DatedChange> moved_before(const NightReport& report) {
  std::vector<DatedChange> found;
  for (DatedChange& dated : drift(report.view)) {
    if (dated.night != report.night.id) found.insert(found.begin(), std::move(dated));
  }
  return found;
}

const Night* find_night(const HistoryView& view, const std::string& id) {
  for (const Night& night : view.nights) {
    if (night.id == id) return &night;
  }
  return nullptr;
}

const Night* gone_since(const HistoryView& view, const KnownFinding& finding) {
  if (finding.state != "fixed") return nullptr;
  for (size_t i = 0; i + 1 < view.nights.size(); ++i) {
    if (view.nights[i].id == finding.last_night) return &view.nights[i + 1];
  }
  return nullptr;
}

std::string also_of(const HistoryView& view, const KnownFinding& finding) {
  std::string text;
  if (finding.is_back) text = "it was fixed before, and came back";
  const bool here = view.nights.empty() || view.nights.back().id == finding.last_night;
  if (finding.state == "known" && !here) {
    text += text.empty() ? "" : "; ";
    text += "the latest night did not ask";
  }
  return text;
}

std::string dates_of(const KnownFinding& finding) {
  std::string text = fmt::format("first seen {} at {}", date_of(finding.first_began),
                                 short_commit(finding.first_commit));
  if (!finding.last_good_commit.empty()) {
    text += fmt::format(", not there at {}", short_commit(finding.last_good_commit));
  }
  if (finding.nights > 1 || finding.state == "fixed") {
    text += fmt::format(", last seen {} at {}", date_of(finding.last_began),
                        short_commit(finding.last_commit));
  }
  return text;
}

std::string date_of(const std::string& began) { return began.substr(0, began.find('T')); }

std::string ratio_text(double value) {
  if (std::isinf(value)) return "inf";
  if (value == 0) return "0";
  if (std::abs(value) < 0.001 || std::abs(value) >= 1e5) return fmt::format("{:.2e}", value);
  std::string text = fmt::format("{:.3g}", value);
  // The bound is at 1: on which side of it a figure lies is always seen.
  for (int digits = 4; text == "1" && value != 1 && digits <= 17; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
  }
  return text;
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "without end";
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string counted(size_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

}  // namespace gdn
