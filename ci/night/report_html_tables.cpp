// Invariants, mutants, speed, coverage, fuzzing, stages, and the nights themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ci/night/report_escaped.h"
#include "ci/night/report_html_parts.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

HtmlCell count_cell(size_t count, std::string_view kind_if_any = "") {
  HtmlCell cell = number_cell(fmt::format("{}", count));
  if (count > 0 && !kind_if_any.empty()) cell.kind += fmt::format(" {}", kind_if_any);
  return cell;
}

size_t judged_of(const NightInvariant& row) {
  return row.holds + row.fails + row.suspicious + row.undecided;
}

// No case came to it: it is neither good nor bad.
bool is_empty(const NightInvariant& row) {
  return judged_of(row) + row.engine_errors + row.not_served == 0;
}

std::vector<HtmlCell> cells_of(std::string name, const NightInvariant& row) {
  return {{std::move(name), "name"},
          {row.engine},
          count_cell(row.holds),
          count_cell(row.fails, "bad"),
          count_cell(row.suspicious, "bad"),
          count_cell(row.undecided, "odd"),
          count_cell(row.engine_errors, "bad"),
          count_cell(row.not_served, "odd"),
          number_cell(judged_of(row) > 0 ? ratio_text(row.worst_ratio) : "-")};
}

const std::vector<std::string>& invariant_columns() {
  static const std::vector<std::string> columns = {
      "invariant",     "engine",     "holds",
      "fails",         "suspicious", "undecided",
      "engine errors", "not served", "worst error/bound"};
  return columns;
}

NightInvariant total_of(const Night& night, const std::string& engine, size_t& invariants) {
  NightInvariant total;
  total.engine = engine;
  for (const NightInvariant& row : night.invariants) {
    if (row.engine != engine) continue;
    ++invariants;
    total.holds += row.holds;
    total.fails += row.fails;
    total.undecided += row.undecided;
    total.suspicious += row.suspicious;
    total.engine_errors += row.engine_errors;
    total.not_served += row.not_served;
    total.worst_ratio = std::max(total.worst_ratio, row.worst_ratio);
  }
  return total;
}

bool is_green(const NightInvariant& row) {
  return row.holds > 0 && row.fails + row.suspicious + row.engine_errors == 0;
}

std::string_view kind_of_stage(const std::string& state) {
  if (state == "passed") return "badge holds";
  return state == "failed" ? "badge fails" : "badge partly";
}

ordered_json bench_figures(const NightReport& report, const BenchTrend& trend, HtmlTable& table) {
  ordered_json nights = ordered_json::array(), median = nights, fastest = nights, slowest = nights;
  for (const Night& night : report.view.nights) {
    const auto found =
        std::find_if(trend.points.begin(), trend.points.end(),
                     [&](const BenchPoint& point) { return point.night == night.id; });
    nights.push_back(visible(date_of(night.began)));
    if (found == trend.points.end()) {
      for (ordered_json* figures : {&median, &fastest, &slowest}) figures->push_back(nullptr);
      continue;
    }
    median.push_back(found->median);
    fastest.push_back(found->fastest);
    slowest.push_back(found->slowest);
    table.rows.push_back({{date_of(night.began)},
                          {short_commit(night.commit), "code"},
                          number_cell(ratio_text(found->median)),
                          number_cell(ratio_text(found->fastest)),
                          number_cell(ratio_text(found->slowest))});
  }
  return {{"kind", "bench"},  {"unit", visible(trend.unit)}, {"nights", nights},
          {"median", median}, {"fastest", fastest},          {"slowest", slowest}};
}

std::string step_words(const BenchTrend& trend) {
  if (trend.detectable_step <= 1 || !std::isfinite(trend.detectable_step)) {
    return "Too few nights to say which step of the median could be seen.";
  }
  return fmt::format("The smallest step of the median that can be seen: {:.1f} %.",
                     100 * (trend.detectable_step - 1));
}

std::string bench_html(const NightReport& report, const BenchTrend& trend, size_t number,
                       ordered_json& figures) {
  const std::string id = fmt::format("bench-{}", number);
  HtmlTable table{fmt::format("{} by night, {}", trend.name, trend.unit),
                  {"night", "commit", "median", "fastest", "slowest"},
                  {}};
  const ordered_json figure = bench_figures(report, trend, table);
  const std::string heading = fmt::format("<div>\n<h3>{}</h3>\n", for_html(trend.name));
  // One night is no trend.
  if (report.view.nights.size() < 2) {
    return heading + paragraph_html(trend.machine) + html_of(table) + "</div>\n";
  }
  figures[id] = figure;
  std::string words = fmt::format("{} on {}, median by night.", trend.name, trend.machine);
  if (!trend.points.empty()) {
    words += fmt::format(" From {} to {} {}.", ratio_text(trend.points.front().median),
                         ratio_text(trend.points.back().median), trend.unit);
  }
  return heading +
         chart_html(id,
                    fmt::format("{}, {}: median (solid), fastest (dotted), slowest (dashed)",
                                trend.machine, trend.unit),
                    words) +
         paragraph_html(step_words(trend)) + details_html("Figures by night", html_of(table)) +
         "</div>\n";
}

std::string machine_text(const NightMachine& machine) {
  return fmt::format("{}, {}", machine.cpu, counted(static_cast<size_t>(machine.cores), "core"));
}

}  // namespace

HtmlSection invariants_section(const NightReport& report) {
  const Night& night = report.night;
  if (night.invariants.empty()) return {"invariants", "Invariants", ""};
  std::vector<std::string> engines;
  for (const NightInvariant& row : night.invariants) {
    if (std::find(engines.begin(), engines.end(), row.engine) == engines.end()) {
      engines.push_back(row.engine);
    }
  }
  HtmlTable totals{"All invariants by engine: verdicts", invariant_columns(), {}};
  for (const std::string& engine : engines) {
    size_t invariants = 0;
    const NightInvariant total = total_of(night, engine, invariants);
    totals.rows.push_back(cells_of(fmt::format("all {}", invariants), total));
  }
  HtmlTable not_green{
      "Those of which not everything holds, or that no engine served", invariant_columns(), {}};
  size_t empty = 0;
  HtmlTable all{"Each invariant on each engine: verdicts", invariant_columns(), {}};
  for (const NightInvariant& row : night.invariants) {
    all.rows.push_back(cells_of(row.invariant, row));
    empty += is_empty(row) ? 1 : 0;
    if (!is_green(row) && !is_empty(row)) not_green.rows.push_back(all.rows.back());
  }
  std::string html = html_of(totals);
  if (!not_green.rows.empty()) html += html_of(not_green);
  if (empty > 0) {
    html += paragraph_html(fmt::format("{} on an engine met no case: among all rows, and no pass.",
                                       counted(empty, "invariant")));
  }
  html += details_html(fmt::format("All {} rows", all.rows.size()), html_of(all));
  return {"invariants", "Invariants", html};
}

HtmlSection mutants_section(const NightReport& report) {
  const std::vector<NightMutant>& mutants = report.night.mutants;
  if (mutants.empty()) return {"mutants", "Mutants: the kill matrix", ""};
  std::map<std::string, size_t> states;
  HtmlTable all{"Mutants, and the invariants that kill them",
                {"mutant", "operator", "state", "killed by"},
                {}};
  HtmlTable alive = all;
  alive.caption = "Mutants that no invariant kills: a fault that would not be seen";
  for (const NightMutant& mutant : mutants) {
    ++states[mutant.state];
    std::string killers;
    for (const std::string& name : mutant.killed_by)
      killers += (killers.empty() ? "" : ", ") + name;
    const bool lives = mutant.state != "killed" && mutant.state != "equivalent";
    all.rows.push_back({{mutant.name},
                        {mutant.op},
                        {mutant.state, lives ? "badge fails" : "badge holds"},
                        {killers}});
    if (lives) alive.rows.push_back(all.rows.back());
  }
  std::string counts;
  for (const auto& [state, count] : states) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, state);
  }
  std::string html = paragraph_html(fmt::format("{} planted faults: {}.", mutants.size(), counts));
  if (!alive.rows.empty()) html += html_of(alive);
  html += details_html(fmt::format("All {}", mutants.size()), html_of(all));
  return {"mutants", "Mutants: the kill matrix", html};
}

HtmlSection bench_section(const NightReport& report, ordered_json& figures) {
  std::string html;
  for (size_t i = 0; i < report.view.benches.size(); ++i) {
    html += bench_html(report, report.view.benches[i], i + 1, figures);
  }
  if (!html.empty()) html = "<div class=\"pair\">\n" + html + "</div>\n";
  return {"speed", "Speed", html};
}

HtmlSection coverage_section(const NightReport& report) {
  if (report.night.coverage.empty()) return {"coverage", "Coverage", ""};
  HtmlTable table{"What the tests reach", {"of", "covered", "in all", "share"}, {}};
  for (const NightCoverage& row : report.night.coverage) {
    table.rows.push_back({{row.what},
                          number_cell(fmt::format("{}", row.covered)),
                          number_cell(fmt::format("{}", row.total)),
                          number_cell(percent_text(static_cast<double>(row.covered),
                                                   static_cast<double>(row.total)))});
  }
  return {"coverage", "Coverage", html_of(table)};
}

HtmlSection fuzz_section(const NightReport& report) {
  if (report.night.fuzz.empty()) return {"fuzzing", "Fuzzing", ""};
  HtmlTable table{
      "Coverage search",
      {"target", "executions", "time", "executions a second", "inputs kept", "findings"},
      {}};
  for (const NightFuzz& row : report.night.fuzz) {
    const double rate = row.seconds > 0 ? static_cast<double>(row.executions) / row.seconds : 0;
    table.rows.push_back({{row.target},
                          number_cell(fmt::format("{}", row.executions)),
                          number_cell(duration_text(row.seconds)),
                          number_cell(row.seconds > 0 ? fmt::format("{:.0f}", rate) : "-"),
                          number_cell(fmt::format("{}", row.corpus_inputs)),
                          count_cell(row.findings, "bad")});
  }
  return {"fuzzing", "Fuzzing", html_of(table)};
}

HtmlSection stages_section(const NightReport& report) {
  if (report.night.stages.empty()) return {"stages", "Stages", ""};
  HtmlTable table{"Steps of the night, in their order",
                  {"stage", "state", "exit status", "took", "budget", "share of it", "why"},
                  {}};
  double seconds = 0;
  for (const NightStage& stage : report.night.stages) {
    seconds += stage.seconds;
    const bool ran = stage.state != "not_run";
    table.rows.push_back(
        {{stage.name},
         {state_words(stage.state), std::string(kind_of_stage(stage.state))},
         number_cell(ran ? fmt::format("{}", stage.status) : "-"),
         number_cell(ran ? duration_text(stage.seconds) : "-"),
         number_cell(stage.budget_seconds > 0 ? duration_text(stage.budget_seconds) : "none"),
         number_cell(ran ? percent_text(stage.seconds, stage.budget_seconds) : "-"),
         {stage.why, "words"}});
  }
  return {"stages", "Stages",
          html_of(table) + paragraph_html(fmt::format("{} in all.", duration_text(seconds)))};
}

HtmlSection nights_section(const NightReport& report) {
  HtmlTable table{
      "The nights that this page is about, the latest first",
      {"night", "commit", "subject", "exit status", "stages that did not pass", "not judged"},
      {}};
  for (size_t i = report.view.nights.size(); i-- > 0;) {
    const Night& night = report.view.nights[i];
    std::string stages, gaps;
    for (const NightStage& stage : night.stages) {
      if (stage.state == "passed") continue;
      stages += fmt::format("{}{} ({})", stages.empty() ? "" : ", ", stage.name,
                            state_words(stage.state));
    }
    const size_t named = std::min<size_t>(night.gaps.size(), 3);
    for (size_t g = 0; g < named; ++g) gaps += (g == 0 ? "" : ", ") + night.gaps[g].what;
    if (night.gaps.size() > named) gaps += fmt::format(" and {} more", night.gaps.size() - named);
    const std::string status =
        night.complete ? fmt::format("{}", night.status) : std::string("cut short");
    table.rows.push_back(
        {{date_of(night.began), "date"},
         {short_commit(night.commit), "code"},
         {night.subject, "phrase"},
         {status, night.complete && night.status == 0 ? "badge holds" : "badge partly"},
         {stages, "phrase"},
         {gaps, "phrase"}});
  }
  return {"nights", "Nights", table.rows.empty() ? "" : html_of(table)};
}

HtmlSection about_section(const NightReport& report) {
  const Night& night = report.night;
  const NightMachine& machine = night.machine;
  HtmlTable table{"Of the latest night", {"", ""}, {}};
  const auto add = [&](const char* name, const std::string& text) {
    table.rows.push_back({{name}, {text.empty() ? "not known" : text}});
  };
  add("began", night.began);
  add("commit", night.commit);
  add("subject", night.subject);
  add("seed of drawn cases", night.seed);
  add("shard", fmt::format("{} of {}", night.shard_index, night.shard_count));
  add("exit status", fmt::format("{}", night.status));
  add("processor", machine_text(machine));
  add("GPU", machine.gpu.empty() ? "none can be used" : machine.gpu);
  if (!machine.gpu.empty()) add("driver", machine.driver);
  add("system", machine.os);
  add("compiler", machine.compiler);
  table.header = {"fact", "value"};
  std::string html = html_of(table);
  if (!night.command.empty())
    html += copied_html("night-command", visible(night.command), "night's command");
  return {"about", "About this night", html};
}

}  // namespace gdn
