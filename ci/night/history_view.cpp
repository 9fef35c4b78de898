// A history as a report wants it: series by night, groups of findings, and what moved.
#include <algorithm>
#include <map>

#include "ci/night/drift.h"
#include "ci/night/history_rows.h"
#include "ci/night/history_tables.h"

namespace gdn {
namespace {

// Of the latest nights: headers, stages and gaps.
std::vector<Night> read_headers(Database& database, size_t nights_max) {
  constexpr size_t most = size_t{1} << 40;
  std::vector<Night> nights;
  Statement select(database,
                   fmt::format("SELECT key, complete, status, {} FROM night WHERE NOT pruned "
                               "ORDER BY began DESC, id DESC LIMIT ?",
                               columns_of<Night>().list));
  select.bind_number(static_cast<int64_t>(std::min(nights_max, most)));
  while (select.step()) {
    Night night = record_of<Night>(select, 3);
    night.complete = select.number(1) != 0;
    night.status = static_cast<int>(select.number(2));
    read_records(database, "stage", select.number(0), night.stages);
    read_records(database, "gap", select.number(0), night.gaps);
    nights.push_back(std::move(night));
  }
  std::reverse(nights.begin(), nights.end());
  return nights;
}

// The rows of one kind of the nights from `oldest` on, grouped by `series`, each in time.
std::string select_series(const char* kind, const std::string& columns, const char* series) {
  return fmt::format(
      "SELECT n.id, n.\"commit\", n.began, n.complete, {} FROM {} r JOIN night n ON n.key = "
      "r.night WHERE NOT n.pruned AND (n.began, n.id) >= (?, ?) ORDER BY {}, n.began, n.id",
      columns, kind, series);
}

std::vector<Trend> read_trends(Database& database, const Night& oldest) {
  std::vector<Trend> trends;
  Statement select(database, select_series("tensor", columns_of<NightTensor>().list,
                                           "panel, engine, operator, tensor"));
  select.bind_text(oldest.began).bind_text(oldest.id);
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

std::vector<BenchTrend> read_benches(Database& database, const Night& oldest) {
  std::vector<BenchTrend> trends;
  Statement select(database,
                   select_series("bench", columns_of<NightBench>().list, "machine, name, unit"));
  select.bind_text(oldest.began).bind_text(oldest.id);
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
  // One state of the file, whatever others write meanwhile.
  database.run("BEGIN");
  HistoryView view;
  try {
    view.nights = read_headers(database, nights_max);
    view.findings = read_known_findings(database);
    if (!view.nights.empty()) {
      view.trends = read_trends(database, view.nights.front());
      view.benches = read_benches(database, view.nights.front());
    }
  } catch (...) {
    sqlite3_exec(database.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
  database.run("COMMIT");
  add_detectable_steps(view.benches);
  for (DatedChange& dated : drift(view)) {
    if (dated.night == view.nights.back().id) view.changes.push_back(std::move(dated.change));
  }
  return view;
}

}  // namespace gdn
