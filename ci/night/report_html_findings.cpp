// Findings, what moved, and what was not judged.
#include <fmt/format.h>

#include "ci/night/report_escaped.h"
#include "ci/night/report_html_parts.h"

namespace gdn {
namespace {

std::string term_html(std::string_view name, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", for_html(name), for_html(text));
}

std::string_view kind_of(std::string_view state) {
  if (state == "new") return "fails";
  return state == "known" ? "partly" : "holds";
}

std::string seen_text(const std::string& began, const std::string& commit) {
  return fmt::format("{} at {}", date_of(began), short_commit(commit));
}

std::string finding_html(const HistoryView& view, const KnownFinding& finding, size_t number) {
  const NightFinding& latest = finding.latest;
  std::string html = fmt::format(
      "<article class=\"finding\" aria-labelledby=\"finding-{0}\">\n<h3 id=\"finding-{0}\">"
      "<span class=\"badge {1}\">{2}</span> {3}</h3>\n<dl>\n",
      number, kind_of(finding.state), for_html(finding.state), for_html(title_of(latest)));
  html += term_html("diagnosis", latest.diagnosis.empty() ? "none" : latest.diagnosis);
  html += term_html("detail", latest.detail);
  html += term_html("first seen", seen_text(finding.first_began, finding.first_commit));
  if (!finding.last_good_commit.empty()) {
    html += term_html("not there at", short_commit(finding.last_good_commit));
  }
  html += term_html("last seen", seen_text(finding.last_began, finding.last_commit));
  const std::string also = also_of(view, finding);
  if (!also.empty()) html += term_html("also", also);
  if (const Night* gone = gone_since(view, finding)) {
    html += term_html("gone since", seen_text(gone->began, gone->commit));
  }
  html +=
      term_html("in", fmt::format("{}; in the last of them {}", counted(finding.nights, "night"),
                                  counted(latest.seen, "time")));
  html += term_html("fingerprint", finding.fingerprint);
  html += "</dl>\n";
  if (!latest.replay.empty()) {
    html += copied_html(fmt::format("finding-{}-replay", number), visible(latest.replay),
                        "replay command");
  }
  if (!latest.case_text.empty()) {
    html += details_html("The smallest case", copied_html(fmt::format("finding-{}-case", number),
                                                          latest.case_text, "case"));
  }
  return html + "</article>\n";
}

HtmlCell factor_cell(double before, double after) {
  return number_cell(before > 0 ? fmt::format("{}-fold", ratio_text(after / before)) : "-");
}

std::vector<HtmlCell> cells_of(const NightReport& report, const DriftChange& change) {
  const bool tensor = change.kind == "tensor";
  const std::string unit = tensor ? "" : " " + change.unit;
  HtmlCell what{tensor ? fmt::format("{} {} on {}, p99 of error/bound", change.op, change.tensor,
                                     change.engine)
                       : fmt::format("{} on {}, median", change.name, change.machine)};
  if (tensor) what.href = place_of(report, {change.op, change.tensor});
  return {what,
          {change.alarm ? "alarm" : "moved", change.alarm ? "badge fails" : "badge partly"},
          number_cell(ratio_text(change.before) + unit),
          number_cell(ratio_text(change.after) + unit),
          factor_cell(change.before, change.after),
          {short_commit(change.since_commit), "code"},
          {short_commit(change.good_commit), "code"},
          {change.words, "words"}};
}

}  // namespace

HtmlSection findings_section(const NightReport& report) {
  std::string html;
  size_t number = 0;
  for (const char* state : {"new", "known"}) {
    for (const KnownFinding* finding : findings_in(report, state)) {
      html += finding_html(report.view, *finding, ++number);
    }
  }
  if (html.empty()) html = paragraph_html("None in this night.");
  for (const KnownFinding* finding : findings_in(report, "fixed")) {
    const Night* gone = gone_since(report.view, *finding);
    html += details_html(
        fmt::format("Fixed: {}; first seen {}, last seen {}{}", title_of(finding->latest),
                    seen_text(finding->first_began, finding->first_commit),
                    seen_text(finding->last_began, finding->last_commit),
                    gone == nullptr ? "" : ", gone since " + seen_text(gone->began, gone->commit)),
        finding_html(report.view, *finding, ++number));
  }
  return {"findings", "Findings", html};
}

HtmlSection changes_section(const NightReport& report) {
  const std::string title = "What moved";
  if (report.view.nights.size() < 2) {
    return {"moved", title, paragraph_html("There is no earlier night to compare with.")};
  }
  const std::vector<std::string> columns = {"what",   "state", "before",  "after",
                                            "change", "since", "good at", "in words"};
  HtmlTable tonight{"In this night: figures that are not what they were before", columns, {}};
  for (const DriftChange& change : report.view.changes) {
    tonight.rows.push_back(cells_of(report, change));
  }
  HtmlTable before{"In the nights before, the last first", columns, {}};
  before.header.insert(before.header.begin(), "night");
  for (const DatedChange& dated : moved_before(report)) {
    std::vector<HtmlCell> row = cells_of(report, dated.change);
    const Night* night = find_night(report.view, dated.night);
    row.insert(row.begin(), {night == nullptr ? dated.night : date_of(night->began), "code"});
    before.rows.push_back(row);
  }
  std::string html =
      tonight.rows.empty()
          ? paragraph_html("Nothing in this night: every figure is what it was before.")
          : html_of(tonight);
  if (!before.rows.empty()) html += html_of(before);
  return {"moved", title, html};
}

HtmlSection missing_section(const NightReport& report) {
  HtmlTable table{
      "What this night did not judge: none of it counts as a pass", {"what", "state", "why"}, {}};
  for (const NightGap& gap : gaps_of(report.night)) {
    table.rows.push_back({{gap.what, "name"}, {"not judged", "badge partly"}, {gap.why}});
  }
  for (const NightStage* stage : stages_not_run(report.night)) {
    table.rows.push_back(
        {{"stage " + stage->name, "name"}, {"did not run", "badge partly"}, {stage->why}});
  }
  if (!report.night.complete) {
    table.rows.push_back({{"the rest of the night"},
                          {"cut short", "badge partly"},
                          {"its records end before its last line"}});
  }
  if (table.rows.empty()) {
    return {"missing", "Not judged", paragraph_html("Nothing was left out.")};
  }
  return {"missing", "Not judged", html_of(table)};
}

}  // namespace gdn
