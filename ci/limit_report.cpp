// The detection limits as text, JSON and the Markdown of docs/detection-limit.md.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/escaped.h"
#include "ci/limit.h"
#include "ci/table.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

// What a right engine's own number is refused for is no limit.
std::string of_row(const LimitRow::Limit& limit) {
  if (limit.all.ulps == 0) return "false alarm";
  return fmt::format("{:.1e}", limit.all.of_row);
}

TextTable table_of(const LimitReport& report, bool is_global) {
  TextTable table{{"shape", "horizon", "operator", "tensor", "median ulp", "limit ulp"}, {}};
  for (size_t r = 0, rules = is_global ? 1 : limit_rule_count; r < rules; ++r) {
    table.header.emplace_back(limit_rule_name(r));
  }
  for (const LimitRow& row : report.rows) {
    if (row.is_global != is_global) continue;
    const LimitRow::Limit& ours = row.rules.front();
    std::vector<std::string> cells = {row.place,
                                      fmt::format("{}", row.horizon),
                                      std::string(name_of(operator_of(row.tensor))),
                                      std::string(name_of(row.tensor)),
                                      fmt::format("{:.3g}", ours.median.ulps),
                                      fmt::format("{:.3g}", ours.all.ulps)};
    for (const LimitRow::Limit& limit : row.rules) cells.push_back(of_row(limit));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Over all rows: by how much the smallest change that a rule always sees is larger than ours.
struct Coarser {
  double least = infinity, most = 0;
  size_t rows = 0;
};

Coarser coarser_than_ours(const LimitReport& report, size_t rule) {
  Coarser result;
  for (const LimitRow& row : report.rows) {
    if (row.is_global || row.rules[rule].all.ulps == 0) continue;
    const double factor = row.rules[rule].all.of_row / row.rules.front().all.of_row;
    result.least = std::min(result.least, factor);
    result.most = std::max(result.most, factor);
    ++result.rows;
  }
  return result;
}

TextTable table_of_rules(const LimitReport& report) {
  TextTable table{{"rule", "rows", "limit / ours, least", "limit / ours, largest"}, {}};
  for (size_t r = 1; r < limit_rule_count; ++r) {
    const Coarser coarser = coarser_than_ours(report, r);
    if (coarser.rows == 0) continue;
    table.rows.push_back({std::string(limit_rule_name(r)), fmt::format("{}", coarser.rows),
                          fmt::format("{:.2g}", coarser.least),
                          fmt::format("{:.2g}", coarser.most)});
  }
  return table;
}

std::string odds(const LimitReport& report) {
  return fmt::format(
      "{} trials a row without a miss: with 95 % confidence a change of that size is missed with a "
      "probability below {:.3g} %",
      report.trials, 100 * miss_probability_below(report.trials));
}

}  // namespace

// (1 - p)^trials = 0.05.
double miss_probability_below(int64_t trials) {
  return -std::expm1(std::log(0.05) / static_cast<double>(trials));
}

std::string as_text(const LimitReport& report) {
  return fmt::format(
      "engine {}, seed {}: {}\n\nLocal check; under each rule the limit relative to the norm of "
      "the element's row\n\n{}\nGlobal check\n\n{}\n{}\nreplay: {}\n",
      visible(report.engine), report.seed, odds(report), as_text(table_of(report, false)),
      as_text(table_of(report, true)), as_text(table_of_rules(report)), report.command);
}

std::string as_json(const LimitReport& report) {
  using nlohmann::ordered_json;
  const auto seen = [](const SmallestSeen& one) {
    return ordered_json{{"ulp", json_figure(one.ulps)}, {"of_row_norm", json_figure(one.of_row)}};
  };
  ordered_json rows = ordered_json::array();
  for (const LimitRow& row : report.rows) {
    ordered_json rules = ordered_json::array();
    for (size_t r = 0; r < row.rules.size(); ++r) {
      rules.push_back({{"rule", limit_rule_name(r)},
                       {"false_alarm", row.rules[r].all.ulps == 0},
                       {"median", seen(row.rules[r].median)},
                       {"limit", seen(row.rules[r].all)}});
    }
    rows.push_back({{"shape", row.place},
                    {"horizon_tokens", row.horizon},
                    {"check", row.is_global ? "global" : "local"},
                    {"operator", name_of(operator_of(row.tensor))},
                    {"tensor", name_of(row.tensor)},
                    {"trials", row.trials},
                    {"rules", rules}});
  }
  const ordered_json root = {{"format", "deltaproof-limit"},
                             {"version", 1},
                             {"deltaproof", report.version},
                             {"command", report.command},
                             {"engine", report.engine},
                             {"seed", report.seed},
                             {"trials", report.trials},
                             {"miss_probability_below", miss_probability_below(report.trials)},
                             {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_markdown(const LimitReport& report) {
  return fmt::format(
      "Written by {}.\n\nEngine {}, seed {}; {}.\n\n## Local check\n\n{}\n## Global check\n\n{}\n"
      "## What the rules let through\n\n{}",
      code_for_markdown(report.command), for_markdown(report.engine), report.seed, odds(report),
      as_markdown(table_of(report, false)), as_markdown(table_of(report, true)),
      as_markdown(table_of_rules(report)));
}

}  // namespace gdn
