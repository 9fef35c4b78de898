// What a night comes to. Nothing that was not judged counts as good.
#include <fmt/format.h>

#include <algorithm>

#include "ci/files.h"
#include "ci/night/report_words.h"

namespace gdn {
namespace {

// What to do says no more than this of each kind: the page has the rest.
constexpr size_t shown_max = 3;
// Enough to name a commit in a tree of any size.
constexpr size_t commit_digits = 12;

// Those that ran, and did not pass.
std::vector<const NightStage*> stages_ended(const Night& night) {
  std::vector<const NightStage*> found;
  for (const NightStage& stage : night.stages) {
    if (stage.state != "passed" && stage.state != "not_run") found.push_back(&stage);
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
  const bool whole = night.gaps.empty() && night.status == 0 && stages_ended(night).empty() &&
                     stages_not_run(night).empty();
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
  const size_t ended = stages_ended(night).size();
  const size_t skipped = stages_not_run(night).size();
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
      return "What was judged holds, but not everything was judged";
    case NightOutcome::unknown:
      return night.complete ? "Nothing was judged, so nothing is known" : "The night was cut short";
  }
  return "";
}

// What makes the night what it is stands first.
std::vector<std::string> clauses_of(const NightReport& report, NightOutcome outcome) {
  const std::string findings = findings_clause(report);
  const std::string moved = moved_clause(report);
  const std::string missing = missing_clause(report.night);
  const bool found = !report.night.findings.empty();
  if (outcome == NightOutcome::holds || found) return {findings, moved, missing};
  if (!alarms_of(report).empty()) return {moved, missing, findings};
  return {missing, findings, moved};
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
  std::vector<const KnownFinding*> fresh = findings_in(report, "new");
  // Who knows the cause is nearer to its end.
  std::stable_partition(fresh.begin(), fresh.end(), [](const KnownFinding* finding) {
    return !finding->latest.diagnosis.empty();
  });
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

// Those for one reason together: a night that was too short may leave out a hundred.
void say_gaps(const Night& night, std::vector<NightStep>& first) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const NightGap& gap : gaps_of(night)) {
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == gap.why; });
    if (known == reasons.end()) {
      reasons.push_back({gap.why, {gap.what}});
    } else {
      known->second.push_back(gap.what);
    }
  }
  for (size_t i = 0; i < std::min(reasons.size(), shown_max); ++i) {
    auto& [why, parts] = reasons[i];
    const bool is_engine = parts.front().starts_with("engine ");
    if (parts.size() > shown_max) {
      const size_t more = parts.size() - (shown_max - 1);
      parts.resize(shown_max - 1);
      parts.push_back(fmt::format("{} more", more));
    }
    first.push_back(
        {fmt::format("Not judged: {}: {}.", joined(parts), why), is_engine ? "./ci/doctor" : ""});
  }
  if (reasons.size() > shown_max) {
    first.push_back({fmt::format("{} more reasons for which something was not judged are below.",
                                 reasons.size() - shown_max),
                     ""});
  }
}

void say_what_is_missing(const NightReport& report, std::vector<NightStep>& first) {
  std::vector<std::string> found;
  for (const NightStage* stage : stages_ended(report.night)) {
    // 1 and 4 are what a stage found, which is told above.
    if (!report.night.findings.empty() && (stage->status == 1 || stage->status == 4)) {
      found.push_back(stage->name);
      continue;
    }
    first.push_back({fmt::format("Stage {} {}{}{}.", stage->name, state_words(stage->state),
                                 stage->why.empty() ? "" : ": ", stage->why),
                     ""});
  }
  if (!found.empty()) {
    first.push_back(
        {fmt::format("{} {} failed by what {} found.", found.size() == 1 ? "Stage" : "Stages",
                     joined(found), found.size() == 1 ? "it" : "they"),
         ""});
  }
  const size_t known = findings_in(report, "known").size();
  if (known > 0) {
    first.push_back({fmt::format("{}: still to be mended.", counted(known, "known finding")), ""});
  }
  say_gaps(report.night, first);
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
  verdict.sentence = opening_of(verdict.outcome, night);
  std::string_view before = ": ";
  for (const std::string& clause : clauses_of(report, verdict.outcome)) {
    if (clause.empty()) continue;
    verdict.sentence += fmt::format("{}{}", before, clause);
    before = "; ";
  }
  if (!night.complete && verdict.outcome == NightOutcome::fails) {
    verdict.sentence += "; the night was cut short";
  }
  verdict.sentence += ".";
  say_findings(report, verdict.first);
  say_alarms(report, verdict.first);
  say_what_is_missing(report, verdict.first);
  return verdict;
}

}  // namespace gdn
