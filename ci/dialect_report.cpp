// Tables of dialects as text, as Markdown and as JSON.
#include "ci/dialect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ci/table.h"
#include "reference/formats.h"
#include "reference/presets.h"

namespace gdn {
namespace {

std::string_view name_of_format(Format format) {
  return format == Format::f32 ? "f32" : (format == Format::bf16 ? "bf16" : "f16");
}

// What a sound engine may give, in few digits.
std::string in_words(const ExpectedElement& e) {
  switch (e.is) {
    case ExpectedElement::Is::untouched:
      return "left as it was";
    case ExpectedElement::Is::served:
      return "served";
    case ExpectedElement::Is::refused:
      return "refused";
    case ExpectedElement::Is::number:
      break;
  }
  if (e.stored == Format::f32) return fmt::format("{:.6g} +- {:.1g}", e.value, e.bound);
  return fmt::format("{:.6g} in {}", round_to(e.stored, e.value), name_of_format(e.stored));
}

std::string cell_of(const std::optional<ToldApart>& found, size_t number) {
  if (!found) return "-";
  const bool is_call = found->array == "status";
  const std::string element =
      is_call ? "the call" : fmt::format("{}[{}]", found->array, found->index);
  return fmt::format("case {}, {}: {} or {}", number, element, in_words(found->one),
                     in_words(found->other));
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// A row a dimension, a column a preset, of those dimensions that differ anywhere.
TextTable choices() {
  TextTable table{{"dimension"}, {}};
  for (const Preset& preset : presets()) table.header.emplace_back(preset.name);
  for (size_t d = 0; d < dialect_dimensions().size(); ++d) {
    std::vector<std::string> row{std::string(dialect_dimensions()[d])};
    for (const Preset& preset : presets()) row.emplace_back(preset.facts[d].value);
    if (std::count(row.begin() + 2, row.end(), row[1]) < std::ssize(row) - 2) {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

TextTable pairs_table(const DialectReport& report) {
  TextTable table{{"pair", "differ in"}, {}};
  for (const Subject subject : told_subjects()) table.header.emplace_back(name_of(subject));
  for (const PairRow& pair : report.pairs) {
    std::vector<std::string> row{pair.one + ", " + pair.other, joined(pair.dimensions)};
    for (size_t s = 0; s < pair.found.size(); ++s) {
      row.push_back(cell_of(pair.found[s], pair.cases[s]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable dimensions_table(const DialectReport& report) {
  TextTable table{{"dimension", "values", "what shows it"}, {}};
  for (const DimensionRow& row : report.dimensions) {
    std::string shows = row.found ? cell_of(row.found, row.number) : "no number: " + row.why;
    if (row.found && !row.why.empty()) shows += "; " + row.why;
    table.rows.push_back({row.dimension, row.one + ", " + row.other, shows});
  }
  return table;
}

TextTable facts_table(const Preset& preset) {
  TextTable table{{"dimension", "value", "fact", "where", "known"}, {}};
  for (const PresetFact& fact : preset.facts) {
    table.rows.push_back({std::string(fact.dimension), std::string(fact.value),
                          std::string(fact.fact), std::string(fact.where),
                          std::string(name_of(fact.basis))});
  }
  return table;
}

nlohmann::ordered_json json_of(const std::optional<ToldApart>& found, size_t number) {
  if (!found) return nullptr;
  const auto element = [](const ExpectedElement& e) -> nlohmann::ordered_json {
    if (e.is != ExpectedElement::Is::number) return in_words(e);
    return nlohmann::ordered_json{
        {"value", e.value}, {"bound", e.bound}, {"stored", name_of_format(e.stored)}};
  };
  return {{"case", number},        {"text", print(found->c)},    {"array", found->array},
          {"index", found->index}, {"one", element(found->one)}, {"other", element(found->other)}};
}

}  // namespace

std::string as_text(const DialectReport& report) {
  std::string text = as_text(choices()) + "\n" + as_text(pairs_table(report)) + "\n" +
                     as_text(dimensions_table(report));
  for (size_t i = 0; i < report.cases.size(); ++i) {
    text += fmt::format("\ncase {}\n{}", i + 1, print(report.cases[i]));
  }
  return text;
}

std::string as_markdown(const DialectReport& report) {
  std::string text = fmt::format("Written by `{}`.\n\n## Where presets differ\n\n{}\n",
                                 report.command, as_markdown(choices()));
  text += fmt::format("## Pairs\n\n{}\n", as_markdown(pairs_table(report)));
  text += fmt::format("## Dimensions\n\n{}\n## Cases\n", as_markdown(dimensions_table(report)));
  for (size_t i = 0; i < report.cases.size(); ++i) {
    text += fmt::format("\nCase {}:\n\n```\n{}```\n", i + 1, print(report.cases[i]));
  }
  text += "\n## Facts\n";
  for (const Preset& preset : presets()) {
    if (preset.name == "deltaproof") continue;
    text += fmt::format("\n### {}\n\n{}.\n\n{}", preset.name, preset.models,
                        as_markdown(facts_table(preset)));
  }
  return text;
}

std::string as_json(const DialectReport& report) {
  using json = nlohmann::ordered_json;
  json all = {{"version", 1}, {"command", report.command}};
  for (const Preset& preset : presets()) {
    json facts = json::object();
    for (const PresetFact& fact : preset.facts) {
      facts[std::string(fact.dimension)] = {{"value", fact.value},
                                            {"fact", fact.fact},
                                            {"where", fact.where},
                                            {"known", name_of(fact.basis)}};
    }
    all["presets"].push_back({{"name", preset.name}, {"models", preset.models}, {"facts", facts}});
  }
  for (const PairRow& pair : report.pairs) {
    json found = json::object();
    for (size_t s = 0; s < pair.found.size(); ++s) {
      found[std::string(name_of(told_subjects()[s]))] = json_of(pair.found[s], pair.cases[s]);
    }
    all["pairs"].push_back({{"one", pair.one},
                            {"other", pair.other},
                            {"dimensions", pair.dimensions},
                            {"told_apart_by", found}});
  }
  for (const DimensionRow& row : report.dimensions) {
    all["dimensions"].push_back({{"dimension", row.dimension},
                                 {"one", row.one},
                                 {"other", row.other},
                                 {"told_apart_by", json_of(row.found, row.number)},
                                 {"why", row.why}});
  }
  return all.dump(2) + "\n";
}

}  // namespace gdn
