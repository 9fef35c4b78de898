// A history as a report wants it: series by night, groups of findings, and what moved.
#include <algorithm>
#include <map>
#include <set>

#include "ci/night/drift.h"
#include "ci/night/history_rows.h"
#include "ci/night/history_tables.h"

namespace gdn {
namespace {

// Headers, stages and gaps, in time.
std::vector<Night> read_headers(Database& database) {
  std::vector<Night> nights;
  Statement select(database,
                   fmt::format("SELECT key, complete, status, {} FROM night WHERE NOT pruned "
                               "ORDER BY began, id",
                               columns_of<Night>().list));
  while (select.step()) {
    Night night = record_of<Night>(select, 3);
    night.complete = select.number(1) != 0;
    night.status = static_cast<int>(select.number(2));
    read_records(database, "stage", select.number(0), night.stages);
    read_records(database, "gap", select.number(0), night.gaps);
    nights.push_back(std::move(night));
  }
  return nights;
}

// The rows of one kind, grouped by `series`, each in time.
std::string select_series(const char* kind, const std::string& columns, const char* series) {
  return fmt::format(
      "SELECT n.id, n.\"commit\", n.began, n.complete, {} FROM {} r JOIN night n ON n.key = "
      "r.night ORDER BY {}, n.began, n.id",
      columns, kind, series);
}

std::vector<Trend> read_trends(Database& database) {
  std::vector<Trend> trends;
  Statement select(database, select_series("tensor", columns_of<NightTensor>().list,
                                           "panel, engine, operator, tensor"));
  while (select.step()) {
    const auto row = record_of<NightTensor>(select, 4);
    const bool is_next = !trends.empty() && trends.back().panel == row.panel &&
                         trends.back().engine == row.engine && trends.back().op == row.op &&
                         trends.back().tensor == row.tensor;
    if (!is_next) trends.push_back({row.panel, row.engine, row.op, row.tensor, {}});
    trends.back().points.push_back({select.text(0), select.text(1), select.text(2), row.p50,
                                    row.p99, row.worst, row.digest, row.samples, row.undecided,
                                    select.number(3) != 0});
  }
  return trends;
}

std::vector<BenchTrend> read_benches(Database& database) {
  std::vector<BenchTrend> trends;
  Statement select(database,
                   select_series("bench", columns_of<NightBench>().list, "machine, name, unit"));
  while (select.step()) {
    const auto row = record_of<NightBench>(select, 4);
    const bool is_next = !trends.empty() && trends.back().machine == row.machine &&
                         trends.back().name == row.name && trends.back().unit == row.unit;
    if (!is_next) trends.push_back({row.machine, row.name, row.unit, {}});
    trends.back().points.push_back(
        {select.text(0), select.text(1), select.text(2), row.median, row.fastest, row.slowest});
  }
  return trends;
}

// Leaves the latest nights, and of the series what lies in them.
void shorten(HistoryView& view, size_t nights_max) {
  const size_t drop = view.nights.size() - std::min(view.nights.size(), nights_max);
  std::set<std::string> dropped;
  for (size_t i = 0; i < drop; ++i) dropped.insert(view.nights[i].id);
  view.nights.erase(view.nights.begin(), view.nights.begin() + static_cast<std::ptrdiff_t>(drop));
  const auto shorten_all = [&](auto& trends) {
    for (auto& trend : trends) {
      std::erase_if(trend.points, [&](const auto& p) { return dropped.contains(p.night); });
    }
    std::erase_if(trends, [](const auto& trend) { return trend.points.empty(); });
  };
  shorten_all(view.trends);
  shorten_all(view.benches);
}

double rise_of(const DriftChange& change) { return change.after - change.before; }

}  // namespace

std::vector<DatedChange> drift(const HistoryView& view) {
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < view.nights.size(); ++i) place[view.nights[i].id] = i;
  std::vector<DatedChange> changes = tensor_drift(view);
  for (DatedChange& change : bench_drift(view)) changes.push_back(std::move(change));
  std::stable_sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) {
    if (a.night != b.night) return place.at(a.night) < place.at(b.night);
    if (a.change.alarm != b.change.alarm) return a.change.alarm;
    if (a.change.kind != b.change.kind) return a.change.kind > b.change.kind;  // tensors first
    return a.change.kind == "tensor" && rise_of(a.change) > rise_of(b.change);
  });
  return changes;
}

HistoryView read_view(Database& database, size_t nights_max) {
  HistoryView view;
  {
    Transaction transaction(database, Transaction::reading);
    view.nights = read_headers(database);
    view.trends = read_trends(database);
    view.benches = read_benches(database);
    view.findings = read_known_findings(database);
  }
  // Of all nights: what is an alarm does not depend on how many of them someone looks at.
  add_detectable_steps(view.benches);
  for (DatedChange& dated : drift(view)) {
    if (dated.night == view.nights.back().id) view.changes.push_back(std::move(dated.change));
  }
  shorten(view, nights_max);
  return view;
}

}  // namespace gdn
