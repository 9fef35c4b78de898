// What a night comes to. Nothing that was not judged counts as good.
#include "ci/night/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/files.h"
#include "reference/tensor.h"

namespace gdn {
namespace {

// What to do says no more than this of each kind: the page has the rest.
constexpr size_t shown_max = 3;
// Enough to name a commit in a tree of any size.
constexpr size_t commit_digits = 12;

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// The place of an operator; behind the last, that of a name that is none.
int rank_of(const std::string& op) {
  const std::optional<Operator> known = operator_named(op);
  return known ? static_cast<int>(*known) : static_cast<int>(Operator::dequant) + 1;
}

std::vector<const NightStage*> stages_that(const Night& night, bool ran) {
  std::vector<const NightStage*> found;
  for (const NightStage& stage : night.stages) {
    if (stage.state != "passed" && (stage.state != "not_run") == ran) found.push_back(&stage);
  }
  return found;
}

std::vector<const DriftChange*> alarms_of(const NightReport& report) {
  std::vector<const DriftChange*> found;
  for (const DriftChange& change : report.view.changes) {
    if (change.alarm) found.push_back(&change);
  }
  return found;
}

bool anything_judged(const Night& night) {
  for (const NightInvariant& row : night.invariants) {
    if (row.holds + row.fails + row.suspicious > 0) return true;
  }
  return std::any_of(night.tensors.begin(), night.tensors.end(),
                     [](const NightTensor& tensor) { return tensor.samples > 0; });
}

bool anything_fails(const NightReport& report) {
  const Night& night = report.night;
  const auto bad = [](const NightStage& stage) { return stage.state == "failed"; };
  return !night.findings.empty() || !alarms_of(report).empty() ||
         std::any_of(night.stages.begin(), night.stages.end(), bad) ||
         (night.complete && anything_judged(night) && night.status != 0 && night.status != 5);
}

NightOutcome outcome_of(const NightReport& report) {
  const Night& night = report.night;
  if (anything_fails(report)) return NightOutcome::fails;
  if (!night.complete || !anything_judged(night)) return NightOutcome::unknown;
  const bool whole = night.gaps.empty() && night.status == 0 && stages_that(night, true).empty() &&
                     stages_that(night, false).empty();
  return whole ? NightOutcome::holds : NightOutcome::partly;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

// "2 findings are new and 1 is known"
std::string findings_clause(const NightReport& report) {
  const size_t fresh = findings_in(report, "new").size();
  const size_t known = findings_in(report, "known").size();
  // Those that were fixed long ago are no news.
  size_t fixed = 0;
  for (const KnownFinding* finding : findings_in(report, "fixed")) {
    const Night* gone = gone_since(report.view, *finding);
    fixed += gone != nullptr && gone->id == report.night.id ? 1 : 0;
  }
  std::vector<std::string> parts;
  if (fresh > 0) parts.push_back(counted(fresh, "new finding"));
  if (known > 0) parts.push_back(counted(known, "known finding"));
  if (fixed > 0) parts.push_back(fmt::format("{} gone", counted(fixed, "finding")));
  return parts.empty() ? "no finding" : joined(parts);
}

std::string moved_clause(const NightReport& report) {
  const size_t alarms = alarms_of(report).size();
  const size_t others = report.view.changes.size() - alarms;
  std::vector<std::string> parts;
  if (alarms > 0)
    parts.push_back(fmt::format("{} moved enough to alarm", counted(alarms, "figure")));
  if (others > 0)
    parts.push_back(fmt::format("{} moved without an alarm", counted(others, "figure")));
  if (!parts.empty()) return joined(parts);
  if (report.view.nights.size() < 2) return "there is no earlier night to compare with";
  size_t before = 0;
  for (const DatedChange& dated : moved_before(report)) before += dated.change.alarm ? 1 : 0;
  if (before == 0) return "no figure moved";
  return fmt::format("no figure moved in this night, after {} in the nights before",
                     counted(before, "alarm"));
}

std::string missing_clause(const Night& night) {
  const size_t ended = stages_that(night, true).size();
  const size_t skipped = stages_that(night, false).size();
  std::vector<std::string> parts;
  if (ended > 0) parts.push_back(fmt::format("{} did not pass", counted(ended, "stage")));
  if (skipped > 0) parts.push_back(fmt::format("{} did not run", counted(skipped, "stage")));
  const std::vector<NightGap> gaps = gaps_of(night);
  if (!gaps.empty()) {
    parts.push_back(gaps.size() == 1 ? fmt::format("{} was not judged", gaps.front().what)
                                     : fmt::format("{} parts were not judged", gaps.size()));
  }
  return joined(parts);
}

std::string opening_of(NightOutcome outcome, const Night& night) {
  switch (outcome) {
    case NightOutcome::fails:
      return "Something is wrong";
    case NightOutcome::holds:
      return "Everything that was judged holds";
    case NightOutcome::partly:
      return "What was judged holds, but not everything was";
    case NightOutcome::unknown:
      return night.complete ? "Nothing was judged, so nothing is known" : "The night was cut short";
  }
  return "";
}

// Which commits lie between the last night without it and the first with it.
std::string log_between(const std::string& good, const std::string& bad) {
  if (good.empty() || bad.empty()) return "";
  const auto commit = [](const std::string& full) {
    return full.substr(0, full.find("-dirty")).substr(0, commit_digits);
  };
  return fmt::format("git log --oneline {}",
                     shell_word(fmt::format("{}..{}", commit(good), commit(bad))));
}

void say_findings(const NightReport& report, std::vector<NightStep>& first) {
  const std::vector<const KnownFinding*> fresh = findings_in(report, "new");
  for (size_t i = 0; i < std::min(fresh.size(), shown_max); ++i) {
    first.push_back(
        {fmt::format("New: {}; {}. Replay {}.", title_of(fresh[i]->latest), dates_of(*fresh[i]),
                     fresh[i]->latest.case_text.empty() ? "it" : "its smallest case"),
         fresh[i]->latest.replay});
  }
  if (fresh.size() > shown_max) {
    first.push_back({fmt::format("{} more new findings are below.", fresh.size() - shown_max), ""});
  }
}

void say_alarms(const NightReport& report, std::vector<NightStep>& first) {
  const std::vector<const DriftChange*> alarms = alarms_of(report);
  for (size_t i = 0; i < std::min(alarms.size(), shown_max); ++i) {
    first.push_back(
        {alarms[i]->words + ".", log_between(alarms[i]->good_commit, alarms[i]->since_commit)});
  }
  if (alarms.size() > shown_max) {
    first.push_back({fmt::format("{} more alarms are below.", alarms.size() - shown_max), ""});
  }
}

void say_what_is_missing(const NightReport& report, std::vector<NightStep>& first) {
  for (const NightStage* stage : stages_that(report.night, true)) {
    first.push_back({fmt::format("Stage {}: {}{}{}.", stage->name, stage->state,
                                 stage->why.empty() ? "" : ": ", stage->why),
                     ""});
  }
  const size_t known = findings_in(report, "known").size();
  if (known > 0) {
    first.push_back({fmt::format("{}: still to be mended.", counted(known, "known finding")), ""});
  }
  for (const NightGap& gap : gaps_of(report.night)) {
    first.push_back({fmt::format("Not judged: {}: {}.", gap.what, gap.why), ""});
  }
}

}  // namespace

std::string_view name_of(NightOutcome outcome) {
  switch (outcome) {
    case NightOutcome::holds:
      return "holds";
    case NightOutcome::partly:
      return "holds in part";
    case NightOutcome::unknown:
      return "not known";
    case NightOutcome::fails:
      return "fails";
  }
  return "";
}

NightVerdict verdict_of(const NightReport& report) {
  const Night& night = report.night;
  NightVerdict verdict;
  verdict.outcome = outcome_of(report);
  verdict.sentence = fmt::format("{}: {}; {}", opening_of(verdict.outcome, night),
                                 findings_clause(report), moved_clause(report));
  const std::string missing = missing_clause(night);
  if (!missing.empty()) verdict.sentence += "; " + missing;
  if (!night.complete && verdict.outcome == NightOutcome::fails) {
    verdict.sentence += "; the night was cut short";
  }
  verdict.sentence += ".";
  say_findings(report, verdict.first);
  say_alarms(report, verdict.first);
  say_what_is_missing(report, verdict.first);
  return verdict;
}

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
  return stages_that(night, false);
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
