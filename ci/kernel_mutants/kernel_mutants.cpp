// Finding mutants of the kernels, and telling what became of them.
#include "ci/kernel_mutants/kernel_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ci/asked_mutants.h"
#include "ci/escaped.h"
#include "invariants/harness/kernel_mutants.h"

namespace gdn {
namespace {

std::optional<SourceEdit> read_edit(const std::string& name, std::string* why) {
  const std::string path = kernel_mutant_edit(name);
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::optional<SourceEdit> edit = parse_edit(name, text, why);
  if (!edit) *why = path + ": " + *why;
  return edit;
}

// About how much one run of a case has to compute.
int64_t cost_of(const Case& c) {
  const Shape& s = c.shape;
  const int64_t matrix = c.rows * c.cols;
  const int64_t layer = s.hidden_size * (s.conv_dim() + 2 * s.v_dim());
  const int64_t token = s.state_count() + (c.subject == Subject::layer ? layer : 0);
  return matrix + token * s.num_layers * std::max<int64_t>(1, c.tokens);
}

struct Counts {
  size_t equivalent = 0, killed = 0, alive = 0;
};

Counts counts_of(const std::vector<const MutantFate*>& fates) {
  Counts counts;
  for (const MutantFate* fate : fates) {
    ++(!fate->edit.equivalent.empty() ? counts.equivalent
       : fate->killed()               ? counts.killed
                                      : counts.alive);
  }
  return counts;
}

std::vector<const MutantFate*> all_of(const Fates& fates) {
  std::vector<const MutantFate*> all;
  for (const MutantFate& fate : fates.all) all.push_back(&fate);
  return all;
}

std::string totals(const Fates& fates) {
  const Counts counts = counts_of(all_of(fates));
  size_t by_bits_alone = 0;
  for (const MutantFate& fate : fates.all) {
    by_bits_alone += fate.deaths.size() == 1 && fate.deaths[0].invariant == same_bits_invariant;
  }
  std::string text = fmt::format(
      "{} of {} mutants of the kernels that are not proven equivalent are killed, on {} seeds{}; "
      "{} proven equivalent",
      counts.killed, counts.killed + counts.alive, fates.seeds,
      fates.drawn > 0 ? fmt::format(" and, where those do not, on {} drawn cases", fates.drawn)
                      : "",
      counts.equivalent == 0 ? "none is" : fmt::format("{} are", counts.equivalent));
  if (!fates.until_killed) {
    text += fmt::format("; {} of them by {} alone", by_bits_alone, same_bits_invariant);
  }
  return text;
}

// The first death by what says most: a failure, of another invariant than that of equal bits.
const Death* telling(const MutantFate& fate) {
  const auto rank = [](const Death& death) {
    return 2 * (death.cause != Death::Cause::fails) + (death.invariant == same_bits_invariant);
  };
  const auto best = std::min_element(
      fate.deaths.begin(), fate.deaths.end(),
      [&](const Death& one, const Death& other) { return rank(one) < rank(other); });
  return best == fate.deaths.end() ? nullptr : &*best;
}

std::string fate_in_words(const MutantFate& fate) {
  const Death* const death = telling(fate);
  if (death == nullptr) return fate.edit.equivalent.empty() ? "alive" : "equivalent";
  return death->cause == Death::Cause::fails
             ? death->invariant
             : fmt::format("{} ({})", death->invariant, name_of(death->cause));
}

std::string killers_in_words(const MutantFate& fate) {
  return fmt::format("{}", fate.deaths.size());
}

// Killed of all, by what `word` says of each edit.
TextTable rates_by(const Fates& fates, const char* title, std::string SourceEdit::*word) {
  std::map<std::string, std::vector<const MutantFate*>> parts;
  for (const MutantFate& fate : fates.all) parts[fate.edit.*word].push_back(&fate);
  TextTable table{{title, "killed", "alive", "equivalent"}, {}};
  for (const auto& [name, part] : parts) {
    const Counts counts = counts_of(part);
    table.rows.push_back({name, fmt::format("{}", counts.killed), fmt::format("{}", counts.alive),
                          fmt::format("{}", counts.equivalent)});
  }
  return table;
}

}  // namespace

std::string name_of(Death::Cause cause) {
  switch (cause) {
    case Death::Cause::fails:
      return "fails";
    case Death::Cause::engine_error:
      return "engine_error";
    case Death::Cause::crash:
      return "crash";
    case Death::Cause::hangs:
      return "hangs";
  }
  return "";
}

ExitStatus find_kernel_mutants(const std::vector<std::string>& names,
                               std::vector<KernelMutant>& found) {
  const std::vector<std::string> here = kernel_mutant_names();
  if (here.empty()) return refuse(why_no_kernel_mutants(), exit_infrastructure);
  for (const std::string& given : names.empty() ? here : names) {
    const std::string name = without_prefix(given);
    if (!std::binary_search(here.begin(), here.end(), name)) {
      std::string known;
      for (const std::string& one : here) known += " " + one;
      return refuse(fmt::format("--mutant: '{}' is no mutant of the kernels, expected one of:{}",
                                name, known),
                    exit_bad_input);
    }
    std::string why = why_kernel_mutant_not_built(name);
    if (!why.empty()) return refuse(why, exit_infrastructure);
    const std::optional<SourceEdit> edit = read_edit(name, &why);
    if (!edit) return refuse(why, exit_bad_input);
    std::optional<EngineSource> engine = find_engine("mutant:" + name, &why);
    if (!engine) return refuse(why, exit_bad_input);
    found.push_back({*edit, *std::move(engine)});
  }
  return exit_ok;
}

std::vector<size_t> order_for(const SourceEdit& edit, const std::vector<CaseFile>& cases,
                              size_t seeds) {
  const auto place = [&](size_t at) {
    const CaseFile& file = cases[at];
    const Subject subject = file.content.subject;
    const bool is_about =
        name_of(subject) == edit.op || (edit.op == "host" && subject == Subject::layer) ||
        ((edit.op == "host" || edit.op == "delta_rule") && subject == Subject::recurrent);
    return std::pair(!is_about, cost_of(file.content));
  };
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(seeds),
                   [&](size_t one, size_t other) { return place(one) < place(other); });
  return order;
}

std::string why_no_kernel_mutants() {
  if (!kernel_mutant_names().empty()) return "";
  return kernel_mutants_folder() +
         ": no file *.edit, expected the mutants' folder beside the program in its build tree, or "
         "in DELTAPROOF_KERNEL_MUTANTS: cmake --build --preset dev --target kernel_mutants";
}

TextTable kernel_mutants_table() {
  TextTable table{{"mutant", "operator", "planted fault", "kind", "file", "built"}, {}};
  for (const std::string& name : kernel_mutant_names()) {
    std::string why;
    const std::optional<SourceEdit> read = read_edit(name, &why);
    const SourceEdit edit = read.value_or(SourceEdit{});
    table.rows.push_back({"mutant:" + name, edit.op, read ? edit.bug : why, edit.kind, edit.file,
                          why_kernel_mutant_not_built(name).empty() ? "yes" : "no"});
  }
  return table;
}

std::vector<std::string> problems_of(const Fates& fates) {
  std::vector<std::string> problems;
  for (const MutantFate& fate : fates.all) {
    const std::string& name = fate.edit.name;
    if (!fate.edit.equivalent.empty()) {
      if (const Death* const death = telling(fate)) {
        problems.push_back(fmt::format("{}: it is said to be equivalent, and {} kills it on {}",
                                       name, death->invariant, death->on));
      }
    } else if (fate.verdicts == 0 && !fate.killed()) {
      problems.push_back(name + ": nothing was judged");
    } else if (!fate.killed()) {
      problems.push_back(name + ": it is alive, no invariant kills it");
    }
  }
  return problems;
}

std::string as_text(const Fates& fates) {
  TextTable table{{"mutant", "operator", "kind", "killers", "killed by"}, {}};
  for (const MutantFate& fate : fates.all) {
    table.rows.push_back({fate.edit.name, fate.edit.op, fate.edit.kind, killers_in_words(fate),
                          fate_in_words(fate)});
  }
  std::string text = as_text(table) + fmt::format("\n{}\n", totals(fates));
  for (const std::string& problem : problems_of(fates)) text += "error: " + problem + "\n";
  return text + "replay: " + fates.command + "\n";
}

std::string as_json(const Fates& fates) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const MutantFate& fate : fates.all) {
    ordered_json deaths = ordered_json::array();
    for (const Death& death : fate.deaths) {
      deaths.push_back({{"invariant", death.invariant},
                        {"cause", name_of(death.cause)},
                        {"on", death.on},
                        {"detail", death.detail}});
    }
    rows.push_back({{"mutant", fate.edit.name},
                    {"operator", fate.edit.op},
                    {"bug", fate.edit.bug},
                    {"file", fate.edit.file},
                    {"kind", fate.edit.kind},
                    {"engine", fate.edit.engine},
                    {"equivalent", fate.edit.equivalent},
                    {"verdicts", fate.verdicts},
                    {"killed_by", deaths}});
  }
  const ordered_json root = {{"format", "deltaproof-kernel-mutants"},
                             {"version", 1},
                             {"deltaproof", fates.version},
                             {"command", fates.command},
                             {"seeds", fates.seeds},
                             {"drawn_cases", fates.drawn},
                             {"problems", problems_of(fates)},
                             {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_markdown(const Fates& fates) {
  TextTable table{{"mutant", "operator", "planted fault", "kind", "file", "engine", "killers",
                   "killed by", "on"},
                  {}};
  std::string proofs;
  for (const MutantFate& fate : fates.all) {
    const SourceEdit& edit = fate.edit;
    const Death* const death = telling(fate);
    table.rows.push_back({edit.name, edit.op, edit.bug, edit.kind, edit.file, edit.engine,
                          killers_in_words(fate), fate_in_words(fate),
                          death == nullptr ? "-" : death->on});
    if (!edit.equivalent.empty()) {
      proofs += fmt::format("* `{}` is equivalent: {}\n", edit.name, edit.equivalent);
    }
  }
  std::string text =
      fmt::format("Written by {}.\n\n{}.\n\n", code_for_markdown(fates.command), totals(fates));
  text += as_markdown(rates_by(fates, "file", &SourceEdit::file)) + "\n";
  text += as_markdown(rates_by(fates, "kind", &SourceEdit::kind)) + "\n";
  text += as_markdown(table);
  return text + (proofs.empty() ? "" : "\n" + proofs);
}

}  // namespace gdn
