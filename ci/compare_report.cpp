// A comparison as text, Markdown and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ci/compare.h"
#include "ci/escaped.h"
#include "ci/ratios_json.h"
#include "ci/table.h"

namespace gdn {
namespace {

// A bin by its lower end.
std::string bin_text(int bin) {
  if (bin < RatioCounts::exponent_min) return "0";
  return bin > RatioCounts::exponent_max ? "inf" : fmt::format("2^{}", bin);
}

std::string shift_text(const ComparedRow& row, double rank) {
  if (row.before.samples() == 0 || row.after.samples() == 0) return "-";
  const int before = quantile(row.before, rank), after = quantile(row.after, rank);
  if (before == after) return bin_text(before);
  return fmt::format("{} -> {}", bin_text(before), bin_text(after));
}

std::string p_text(double p) { return p < 1e-9 ? "<1e-9" : fmt::format("{:.2g}", p); }

// What moved first, then what did not.
std::vector<const ComparedRow*> by_interest(const Comparison& comparison) {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : comparison.rows) rows.push_back(&row);
  const auto rank = [](const ComparedRow* row) {
    return row->change == Change::worse || row->change == Change::both ? 0
           : row->change == Change::better                             ? 1
           : row->change == Change::same                               ? 2
                                                                       : 3;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* one, const auto* other) { return rank(one) < rank(other); });
  return rows;
}

TextTable table_of(const Comparison& comparison) {
  TextTable table{{"operator", "of", "scope", "source", "samples", "median", "95 %", "largest",
                   "distance up", "p up", "distance down", "p down", "change"},
                  {}};
  for (const ComparedRow* row : by_interest(comparison)) {
    const bool tested = row->change != Change::untested;
    const auto figure = [&](double value) { return tested ? fmt::format("{:.3f}", value) : "-"; };
    table.rows.push_back(
        {row->key.op, row->key.what, row->key.scope.empty() ? "-" : row->key.scope, row->key.source,
         fmt::format("{}, {}", row->before.samples(), row->after.samples()), shift_text(*row, 0.5),
         shift_text(*row, 0.95), shift_text(*row, 1), figure(row->moved.up.distance),
         tested ? p_text(row->p_up) : "-", figure(row->moved.down.distance),
         tested ? p_text(row->p_down) : "-", name_of(row->change)});
  }
  return table;
}

size_t count(const Comparison& comparison, std::initializer_list<Change> changes) {
  return static_cast<size_t>(
      std::count_if(comparison.rows.begin(), comparison.rows.end(), [&](const ComparedRow& row) {
        return std::find(changes.begin(), changes.end(), row.change) != changes.end();
      }));
}

std::string sentence(const Comparison& comparison) {
  return fmt::format(
      "{} of {} distributions moved up, for the worse, {} down, at level {} of all {} tests "
      "together; {} verdicts fail now that did not before",
      count(comparison, {Change::worse, Change::both}), comparison.rows.size(),
      count(comparison, {Change::better, Change::both}), comparison.level, comparison.tests,
      comparison.failing_now.size());
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const std::string& what : comparison.failing_now) lines.push_back("fails now: " + what);
  for (const std::string& what : comparison.failing_no_more) {
    lines.push_back("fails no more: " + what);
  }
  for (const std::string& note : comparison.notes) lines.push_back("note: " + note);
  return lines;
}

}  // namespace

std::string as_text(const Comparison& comparison) {
  std::string text =
      fmt::format("before: {}: {}\nafter:  {}: {}\n\n{}\n", visible(comparison.before),
                  visible(comparison.about_before), visible(comparison.after),
                  visible(comparison.about_after), as_text(table_of(comparison)));
  for (const std::string& line : remarks(comparison)) text += visible(line) + "\n";
  return text + sentence(comparison) + "\n";
}

std::string as_markdown(const Comparison& comparison) {
  std::string text = fmt::format(
      "# deltaproof: {}\n\n* before: {}: {}\n* after: {}: {}\n\n{}.\n\n{}",
      status_of(comparison) == exit_ok ? "nothing moved for the worse" : "something moved",
      code_for_markdown(comparison.before), for_markdown(comparison.about_before),
      code_for_markdown(comparison.after), for_markdown(comparison.about_after),
      sentence(comparison), as_markdown(table_of(comparison)));
  const std::vector<std::string> lines = remarks(comparison);
  if (!lines.empty()) text += "\n";
  for (const std::string& line : lines) text += "* " + for_markdown(line) + "\n";
  return text;
}

std::string as_json(const Comparison& comparison) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const ComparedRow& row : comparison.rows) {
    rows.push_back({{"operator", row.key.op},
                    {"of", row.key.what},
                    {"scope", row.key.scope},
                    {"source", row.key.source},
                    {"before", json_of(row.before)},
                    {"after", json_of(row.after)},
                    {"distance_up", row.moved.up.distance},
                    {"distance_down", row.moved.down.distance},
                    {"p_up", row.p_up},
                    {"p_down", row.p_down},
                    {"change", name_of(row.change)}});
  }
  const ordered_json root = {{"format", "deltaproof-comparison"},
                             {"version", 1},
                             {"before", comparison.before},
                             {"after", comparison.after},
                             {"about_before", comparison.about_before},
                             {"about_after", comparison.about_after},
                             {"status", status_of(comparison)},
                             {"level", comparison.level},
                             {"tests", comparison.tests},
                             {"fails_now", comparison.failing_now},
                             {"fails_no_more", comparison.failing_no_more},
                             {"notes", comparison.notes},
                             {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
