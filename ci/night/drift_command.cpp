// `deltaproof history drift`: what moved in the latest night, and what steps of speed would show.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ci/escaped.h"
#include "ci/night/history_command.h"
#include "ci/night/open_history.h"
#include "ci/table.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const DriftChange& change) {
  ordered_json json = {{"kind", change.kind}, {"alarm", change.alarm}};
  if (change.kind == "tensor") {
    json.update({{"panel", change.panel},
                 {"engine", change.engine},
                 {"operator", change.op},
                 {"tensor", change.tensor},
                 {"p99_before", json_figure(change.before)},
                 {"p99_after", json_figure(change.after)},
                 {"worst_before", json_figure(change.worst_before)},
                 {"worst_after", json_figure(change.worst_after)}});
  } else {
    json.update({{"machine", change.machine},
                 {"name", change.name},
                 {"unit", change.unit},
                 {"median_before", json_figure(change.before)},
                 {"median_after", json_figure(change.after)}});
  }
  json.update({{"since_commit", change.since_commit},
               {"good_commit", change.good_commit},
               {"words", change.words}});
  return json;
}

std::string as_json(const HistoryView& view) {
  ordered_json changes = ordered_json::array(), benches = ordered_json::array();
  for (const DriftChange& change : view.changes) changes.push_back(json_of(change));
  for (const BenchTrend& bench : view.benches) {
    benches.push_back({{"machine", bench.machine},
                       {"name", bench.name},
                       {"unit", bench.unit},
                       {"nights", bench.points.size()},
                       {"detectable_step", json_figure(bench.detectable_step)},
                       {"detected_in_nights", bench.detected_in}});
  }
  const Night& latest = view.nights.back();
  const ordered_json json = {{"night", latest.id},
                             {"commit", latest.commit},
                             {"nights", view.nights.size()},
                             {"changes", changes},
                             {"benches", benches}};
  return json.dump(2) + "\n";
}

std::string bench_text(const HistoryView& view) {
  TextTable table;
  table.header = {"bench", "machine", "median", "nights", "smallest step seen", "within nights"};
  for (const BenchTrend& bench : view.benches) {
    const bool is_known = bench.detectable_step > 0;
    table.rows.push_back(
        {visible(bench.name), visible(bench.machine),
         fmt::format("{:.4g} {}", bench.points.back().median, visible(bench.unit)),
         fmt::format("{}", bench.points.size()),
         is_known ? fmt::format("{:.3f}x", bench.detectable_step) : "too few nights",
         is_known ? fmt::format("{}", bench.detected_in) : "-"});
  }
  return as_text(table);
}

std::string drift_text(const HistoryView& view) {
  const Night& latest = view.nights.back();
  std::string text = fmt::format("night {}, {} nights stored\n", latest.id, view.nights.size());
  if (view.nights.size() == 1) text += "It is the first: there is nothing to compare it with.\n";
  for (const DriftChange& change : view.changes) text += change.words + "\n";
  if (view.changes.empty() && view.nights.size() > 1) text += "Nothing moved.\n";
  if (!view.benches.empty()) text += "\n" + bench_text(view);
  return text;
}

}  // namespace

ExitStatus run_history_drift(const HistoryCommand& command) {
  ExitStatus status = exit_ok;
  const auto history = open_history(command.db, &status);
  if (!history) return status;
  std::string why;
  const auto view = history->view(SIZE_MAX, &why, &status);
  if (!view) return refuse(why, status);
  if (view->nights.empty()) {
    return refuse(command.db + ": it has no night: deltaproof history import", exit_bad_input);
  }
  command.json ? fmt::print("{}", as_json(*view)) : to_terminal("{}", drift_text(*view));
  const bool has_alarm = !view->changes.empty() && view->changes.front().alarm;
  return has_alarm ? exit_fails : exit_ok;
}

}  // namespace gdn
