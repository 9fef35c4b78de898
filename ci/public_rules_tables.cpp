// The verdicts of public rules as text, Markdown and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "ci/escaped.h"
#include "ci/public_rules_table.h"
#include "ci/table.h"

namespace gdn {
namespace {

constexpr size_t regimes = static_cast<size_t>(RuleRange::regimes);

// A letter a rule, a dot where it kills nothing.
std::string letters(const RuleSet& rules) {
  std::string text;
  for (size_t i = 0; i < public_rule_count; ++i) text += rules[i] ? public_rules()[i].letter : '.';
  return text;
}

std::string range_name(size_t range) { return name_of(static_cast<RuleRange>(range)); }

std::string share(size_t part, size_t all) {
  const double percent = all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  return fmt::format("{} ({:.0f} %)", part, percent);
}

using Chosen = std::function<bool(const RulesTable::Row&)>;

// Rules by ranges: how many of the chosen mutants each kills.
TextTable totals(const RulesTable& table, const Chosen& chosen) {
  TextTable text{{"rule", "letter", "a", "b", "c", "a, b or c", "our regimes"}, {}};
  size_t mutants = 0;
  for (const RulesTable::Row& row : table.rows) mutants += chosen(row);
  const auto counted = [&](const std::function<bool(const RulesTable::Row&)>& killed) {
    size_t count = 0;
    for (const RulesTable::Row& row : table.rows) count += chosen(row) && killed(row);
    return share(count, mutants);
  };
  const auto line = [&](std::string name, std::string letter,
                        const std::function<bool(const RuleSet&)>& by) {
    std::vector<std::string> cells = {std::move(name), std::move(letter)};
    for (size_t range = 0; range < own_range_count; ++range) {
      cells.push_back(counted([&](const auto& row) { return by(row.killed[range]); }));
    }
    cells.push_back(counted([&](const auto& row) { return by(row.killed_on_own_ranges()); }));
    cells.push_back(counted([&](const auto& row) { return by(row.killed[regimes]); }));
    text.rows.push_back(std::move(cells));
  };
  for (size_t i = 0; i < public_rule_count; ++i) {
    line(public_rules()[i].name, std::string(1, public_rules()[i].letter),
         [i](const RuleSet& rules) { return rules[i]; });
  }
  line("any of them", "", [](const RuleSet& rules) { return rules.any(); });
  return text;
}

TextTable false_alarms(const RulesTable& table) {
  TextTable text{{"right engine", "rule"}, {}};
  for (size_t range = 0; range < rule_range_count; ++range) {
    text.header.push_back(fmt::format("{}, of {}", range_name(range), table.cases[range]));
  }
  for (const RulesTable::Right& right : table.right) {
    for (size_t i = 0; i < public_rule_count; ++i) {
      std::vector<std::string> cells = {right.engine, public_rules()[i].name};
      for (const auto& of_range : right.rejected) cells.push_back(fmt::format("{}", of_range[i]));
      text.rows.push_back(std::move(cells));
    }
  }
  return text;
}

TextTable mutants(const RulesTable& table) {
  TextTable text{{"mutant", "operator", "a", "b", "c", "our regimes", "invariants"}, {}};
  for (const RulesTable::Row& row : table.rows) {
    std::vector<std::string> cells = {row.mutant, row.op};
    for (const RuleSet& rules : row.killed) cells.push_back(letters(rules));
    cells.push_back(fmt::format("{}", row.invariants));
    text.rows.push_back(std::move(cells));
  }
  return text;
}

bool is_numeric(const RulesTable::Row& row) { return row.op != "host"; }

size_t survivors(const RulesTable& table, const Chosen& chosen) {
  return static_cast<size_t>(std::count_if(
      table.rows.begin(), table.rows.end(),
      [&](const RulesTable::Row& row) { return chosen(row) && row.survives_own_ranges(); }));
}

const Chosen every = [](const RulesTable::Row&) { return true; };

std::string sentence(const RulesTable& table) {
  const size_t numeric =
      static_cast<size_t>(std::count_if(table.rows.begin(), table.rows.end(), is_numeric));
  const size_t by_invariants = static_cast<size_t>(
      std::count_if(table.rows.begin(), table.rows.end(),
                    [](const RulesTable::Row& row) { return row.invariants > 0; }));
  return fmt::format(
      "{} of {} mutants survive every public rule on its own ranges, {} of the {} that are not of "
      "the host's among them; {} of {} are killed by an invariant.",
      survivors(table, every), table.rows.size(), survivors(table, is_numeric), numeric,
      by_invariants, table.rows.size());
}

constexpr const char* range_c_note =
    "The rules of (c)'s suites are meant for results stored in 16 bits; ours are stored in 32.";

}  // namespace

RuleSet RulesTable::Row::killed_on_own_ranges() const {
  RuleSet rules;
  for (size_t range = 0; range < own_range_count; ++range) rules |= killed[range];
  return rules;
}

std::string as_text(const RulesTable& table) {
  return fmt::format(
      "By the rules of public test suites, a letter for each that kills the mutant\n\n{}\n"
      "Mutants killed by each rule\n\n{}\n"
      "Mutants of operators, without those of the host\n\n{}\n"
      "Cases of right engines that each rule rejects: its own false alarms\n\n{}\n{}\n{}\n",
      as_text(mutants(table)), as_text(totals(table, every)), as_text(totals(table, is_numeric)),
      as_text(false_alarms(table)), sentence(table), range_c_note);
}

std::string as_markdown(const RulesTable& table) {
  return fmt::format(
      "Written by {}.\n\n{}\n\nMutants killed by each rule:\n\n{}\n"
      "Mutants of operators, without those of the host:\n\n{}\n"
      "Cases of right engines that each rule rejects, its own false alarms. {}\n\n{}\n"
      "A letter for each rule that kills the mutant, and how many invariants kill it:\n\n{}",
      code_for_markdown(table.command), sentence(table), as_markdown(totals(table, every)),
      as_markdown(totals(table, is_numeric)), range_c_note, as_markdown(false_alarms(table)),
      as_markdown(mutants(table)));
}

std::string with_rules(const std::string& matrix_json, const RulesTable& table) {
  using nlohmann::ordered_json;
  ordered_json root = ordered_json::parse(matrix_json);
  const auto names = [](const RuleSet& rules) {
    ordered_json list = ordered_json::array();
    for (size_t i = 0; i < public_rule_count; ++i) {
      if (rules[i]) list.push_back(public_rules()[i].name);
    }
    return list;
  };
  ordered_json rules = ordered_json::array(), cases, right = ordered_json::array();
  for (const PublicRule& rule : public_rules()) {
    rules.push_back({{"name", rule.name}, {"accepts", rule.what}});
  }
  for (size_t range = 0; range < rule_range_count; ++range) {
    cases[range_name(range)] = table.cases[range];
  }
  for (const RulesTable::Right& one : table.right) {
    ordered_json rejected;
    for (size_t range = 0; range < rule_range_count; ++range) {
      for (size_t i = 0; i < public_rule_count; ++i) {
        rejected[range_name(range)][public_rules()[i].name] = one.rejected[range][i];
      }
    }
    right.push_back({{"engine", one.engine}, {"rejected_cases", rejected}});
  }
  root["public_rules"] = {{"rules", rules},
                          {"cases", cases},
                          {"note", range_c_note},
                          {"right_engines", right},
                          {"survive_own_ranges", survivors(table, every)},
                          {"survive_own_ranges_without_host", survivors(table, is_numeric)}};
  for (size_t i = 0; i < table.rows.size(); ++i) {
    ordered_json killed;
    for (size_t range = 0; range < rule_range_count; ++range) {
      killed[range_name(range)] = names(table.rows[i].killed[range]);
    }
    root["rows"][i]["public_rules"] = {
        {"killed", killed}, {"survives_own_ranges", table.rows[i].survives_own_ranges()}};
  }
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
