// The report as Markdown: a summary for a pull request, and every finding in full.
#include <fmt/format.h>

#include <algorithm>

#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/night/report_escaped.h"
#include "ci/night/report_words.h"
#include "ci/table.h"

namespace gdn {
namespace {

std::string heading_of(const NightReport& report, const NightVerdict& verdict) {
  const Night& night = report.night;
  return fmt::format("# deltaproof: {}\n\n{}\n\nNight of {}, commit {}: {}\n",
                     name_of(verdict.outcome), for_markdown(verdict.sentence),
                     for_markdown(date_of(night.began)),
                     code_for_markdown(short_commit(night.commit)), for_markdown(night.subject));
}

std::string first_of(const NightVerdict& verdict) {
  if (verdict.first.empty()) return "";
  std::string text = "\n## What to do first\n\n";
  for (const NightStep& step : verdict.first) {
    text += fmt::format("1. {}\n", for_markdown(step.text));
    if (!step.command.empty()) text += fmt::format("   {}\n", code_for_markdown(step.command));
  }
  return text;
}

std::string errors_of(const NightReport& report) {
  const std::vector<std::string> engines = engines_of(report);
  TextTable table{{"operator", "tensor"}, {}};
  table.header.insert(table.header.end(), engines.begin(), engines.end());
  for (std::string& name : table.header) name = for_markdown(name);
  for (const TensorName& name : tensors_of(report)) {
    std::vector<std::string> row = {name.op, name.tensor};
    for (const std::string& engine : engines) {
      const NightTensor* tensor = find_tensor(report.night, name, engine);
      row.push_back(tensor == nullptr || tensor->samples == 0 ? "not judged"
                                                              : ratio_text(tensor->worst));
    }
    table.rows.push_back(row);
  }
  if (table.rows.empty()) return "";
  std::string text = "\n## Worst error/bound\n\nAt most 1 is rounding.\n\n|";
  // The header is escaped here, since as_markdown takes headers for our own words.
  for (const std::string& name : table.header) text += fmt::format(" {} |", name);
  text += "\n|---|---|";
  for (size_t i = 0; i < engines.size(); ++i) text += "---:|";
  const std::string rows = as_markdown(TextTable{{""}, table.rows});
  const size_t second = rows.find('\n', rows.find('\n') + 1);
  return text + rows.substr(second);
}

std::string missing_of(const Night& night) {
  TextTable table{{"not judged", "why"}, {}};
  for (const NightGap& gap : gaps_of(night)) table.rows.push_back({gap.what, gap.why});
  for (const NightStage* stage : stages_not_run(night)) {
    table.rows.push_back({"stage " + stage->name, stage->why});
  }
  if (!night.complete) table.rows.push_back({"the rest of the night", "it was cut short"});
  return table.rows.empty() ? "" : "\n## Not judged\n\n" + as_markdown(table);
}

std::string stages_of(const Night& night) {
  TextTable table{{"stage", "state", "took", "budget", "why"}, {}};
  for (const NightStage& stage : night.stages) {
    table.rows.push_back({stage.name, state_words(stage.state),
                          stage.state == "not_run" ? "-" : duration_text(stage.seconds),
                          stage.budget_seconds > 0 ? duration_text(stage.budget_seconds) : "-",
                          stage.why});
  }
  return table.rows.empty() ? "" : "\n## Stages\n\n" + as_markdown(table);
}

std::string findings_of(const NightReport& report) {
  TextTable table{{"state", "finding", "first seen", "last seen"}, {}};
  for (const char* state : {"new", "known", "fixed"}) {
    for (const KnownFinding* finding : findings_in(report, state)) {
      table.rows.push_back(
          {state, title_of(finding->latest),
           fmt::format("{} {}", date_of(finding->first_began), short_commit(finding->first_commit)),
           fmt::format("{} {}", date_of(finding->last_began), short_commit(finding->last_commit))});
    }
  }
  return table.rows.empty() ? "" : "\n## Findings\n\n" + as_markdown(table);
}

std::string moved_of(const NightReport& report) {
  std::string text;
  for (const DriftChange& change : report.view.changes) {
    text += fmt::format("* {}: {}\n", change.alarm ? "alarm" : "moved", for_markdown(change.words));
  }
  for (const DatedChange& dated : moved_before(report)) {
    const Night* night = find_night(report.view, dated.night);
    text += fmt::format("* {}: {}\n",
                        for_markdown(night == nullptr ? dated.night : date_of(night->began)),
                        for_markdown(dated.change.words));
  }
  return text.empty() ? "" : "\n## What moved\n\n" + text;
}

std::string finding_text(const HistoryView& view, const KnownFinding& finding) {
  const NightFinding& latest = finding.latest;
  std::string text =
      fmt::format("\n## {}: {}\n\n", for_markdown(finding.state), for_markdown(title_of(latest)));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("* {}: {}\n", name, for_markdown(value));
  };
  add("diagnosis", latest.diagnosis);
  add("detail", latest.detail);
  add("seen", fmt::format("{}; in {}, {} in the last of them", dates_of(finding),
                          counted(finding.nights, "night"), counted(latest.seen, "time")));
  add("also", also_of(view, finding));
  if (const Night* gone = gone_since(view, finding)) {
    add("gone since", fmt::format("{} at {}", date_of(gone->began), short_commit(gone->commit)));
  }
  add("fingerprint", finding.fingerprint);
  if (!latest.replay.empty()) {
    text += "\nReplay:\n\n" + code_block_for_markdown(visible(latest.replay));
  }
  if (!latest.case_text.empty()) {
    text += "\nThe smallest case:\n\n" + code_block_for_markdown(latest.case_text);
  }
  return text;
}

}  // namespace

std::string as_summary(const NightReport& report) {
  const NightVerdict verdict = verdict_of(report);
  return heading_of(report, verdict) + first_of(verdict) + findings_of(report) + moved_of(report) +
         missing_of(report.night) + errors_of(report) + stages_of(report.night) +
         fmt::format("\nWritten by {}.\n", for_markdown(version_text()));
}

std::string as_findings(const NightReport& report) {
  const Night& night = report.night;
  std::string text =
      fmt::format("# Findings of the night of {}, commit {}\n", for_markdown(date_of(night.began)),
                  code_for_markdown(short_commit(night.commit)));
  size_t count = 0;
  for (const char* state : {"new", "known", "fixed"}) {
    for (const KnownFinding* finding : findings_in(report, state)) {
      text += finding_text(report.view, *finding);
      ++count;
    }
  }
  if (count == 0) text += "\nNone, in this night or in those that are remembered.\n";
  if (!night.complete)
    text += "\nThe night was cut short: what it would have found is not known.\n";
  return text;
}

}  // namespace gdn
