// Every pair of presets, and every dimension alone, through the search for telling cases.
#include <algorithm>
#include <set>

#include "ci/dialect_report.h"

namespace gdn {
namespace {

// The number of a case among those kept; it is kept if it is new.
size_t number_of(const Case& c, std::vector<Case>& cases) {
  Case plain = c;
  plain.dialect = {};
  const std::string text = print(plain);
  for (size_t i = 0; i < cases.size(); ++i) {
    if (print(cases[i]) == text) return i + 1;
  }
  cases.push_back(std::move(plain));
  return cases.size();
}

// Unordered pairs of the values that presets have in a dimension.
std::vector<std::pair<std::string, std::string>> values_in_use(std::string_view dimension) {
  std::vector<std::string> values;
  for (const std::string_view name : dialect_names()) {
    const std::string value = get_dimension(dialect_named(name).value(), dimension);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) pairs.emplace_back(values[i], values[j]);
  }
  return pairs;
}

DimensionRow row_of(std::string_view dimension, const std::string& one, const std::string& other,
                    const Lab& lab) {
  DimensionRow row{std::string(dimension), one, other, std::nullopt, 0, ""};
  Dialect first;
  Dialect second;
  set_dimension(first, dimension, one);
  set_dimension(second, dimension, other);
  for (const Subject subject : told_subjects()) {
    row.found = smallest_case(subject, first, second, lab);
    if (row.found) return row;
  }
  if (dimension == "softplus") {
    row.found = softplus_case(lab);
    if (row.found) row.why = "right for log_one_plus_exp, which loses exp x in 1 + exp x: 0";
    return row;
  }
  row.why = why_equal_numbers(dimension, one, other);
  return row;
}

}  // namespace

DialectReport compare_dialects() {
  const Lab lab = lab_of_any_order();
  DialectReport report;
  const auto names = dialect_names();
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = i + 1; j < names.size(); ++j) {
      const Dialect one = dialect_named(names[i]).value();
      const Dialect other = dialect_named(names[j]).value();
      PairRow row{one.name, other.name, differences(one, other), {}, {}};
      for (const Subject subject : told_subjects()) {
        row.found.push_back(smallest_case(subject, one, other, lab));
        const std::optional<ToldApart>& found = row.found.back();
        row.cases.push_back(found ? number_of(found->c, report.cases) : 0);
      }
      report.pairs.push_back(std::move(row));
    }
  }
  for (const std::string_view dimension : dialect_dimensions()) {
    for (const auto& [one, other] : values_in_use(dimension)) {
      DimensionRow row = row_of(dimension, one, other, lab);
      if (row.found) row.number = number_of(row.found->c, report.cases);
      report.dimensions.push_back(std::move(row));
    }
  }
  return report;
}

std::vector<std::string> problems_of(const DialectReport& report) {
  std::vector<std::string> problems;
  for (const PairRow& pair : report.pairs) {
    const bool told = std::any_of(pair.found.begin(), pair.found.end(),
                                  [](const auto& found) { return found.has_value(); });
    if (told) continue;
    // Equal in every number is an answer too, where each difference has its reason.
    for (const std::string& dimension : pair.dimensions) {
      const Dialect one = dialect_named(pair.one).value();
      const Dialect other = dialect_named(pair.other).value();
      const std::string from = get_dimension(one, dimension);
      const std::string to = get_dimension(other, dimension);
      if (!why_equal_numbers(dimension, from, to).empty()) continue;
      problems.push_back(pair.one + " and " + pair.other + ": no case shows " + dimension);
    }
  }
  for (const DimensionRow& row : report.dimensions) {
    if (row.found || !row.why.empty()) continue;
    problems.push_back(row.dimension + ": no case tells " + row.one + " from " + row.other);
  }
  return problems;
}

}  // namespace gdn
