// The catalogue as tables.
#include "ci/catalogue.h"
#include "ci/escaped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

using Seen = Cell::Seen;

// Enough that each subject comes a hundred times.
constexpr uint64_t probes = 2000;

constexpr const char* legend =
    "X kills the mutant and names it, x kills it, ! names it and misses it, s finds it suspicious, "
    "e saw an engine error, . saw nothing, a blank never applied.";

const std::vector<Case>& probe_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> drawn;
    for (uint64_t i = 0; i < probes; ++i) drawn.push_back(draw_case(1, i));
    return drawn;
  }();
  return cases;
}

bool names(const Invariant& invariant, const std::string& mutant) {
  const std::vector<std::string>& kills = invariant.claim.kills;
  return std::find(kills.begin(), kills.end(), mutant) != kills.end();
}

// Of one mutant: the invariants that name it first.
struct Killers {
  std::vector<std::string> named, others, missed;
};
Killers killers_of(const KillMatrix& matrix, size_t row) {
  Killers killers;
  for (size_t i = 0; i < registry().size(); ++i) {
    const Invariant& invariant = registry()[i];
    const bool killed = matrix.cells[row][i].seen == Seen::killed;
    const bool named = names(invariant, matrix.mutants[row]);
    if (killed) (named ? killers.named : killers.others).push_back(invariant.name);
    if (named && !killed) killers.missed.push_back(invariant.name);
  }
  return killers;
}

// A letter a cell: who names the mutant is a capital, and stands out where the mutant lives.
char letter(const KillMatrix& matrix, size_t row, size_t column) {
  const Seen seen = matrix.cells[row][column].seen;
  if (!names(registry()[column], matrix.mutants[row])) return static_cast<char>(seen);
  return seen == Seen::killed ? 'X' : '!';
}

std::string grid(const KillMatrix& matrix) {
  size_t width = 0;
  for (const std::string& name : matrix.mutants) width = std::max(width, name.size());
  std::string tens(width + 2, ' '), units = tens;
  for (size_t i = 1; i <= registry().size(); ++i) {
    tens += i % 10 == 0 ? static_cast<char>('0' + i / 10 % 10) : ' ';
    units += static_cast<char>('0' + i % 10);
  }
  tens.erase(tens.find_last_not_of(' ') + 1);
  std::string text = tens + "\n" + units + "\n";
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    std::string line = fmt::format("{:<{}}  ", matrix.mutants[row], width);
    for (size_t i = 0; i < registry().size(); ++i) line += letter(matrix, row, i);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string totals(const KillMatrix& matrix) {
  size_t killed = 0, dead = 0, before = 0;
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    for (const Cell& cell : matrix.cells[row]) before += cell.is_of_before ? 1 : 0;
    killed += kills_of(matrix, row);
    dead += kills_of(matrix, row) > 0;
  }
  return fmt::format(
      "{} of {} mutants are killed, in {} of {} cells, by {} invariants on {} seeds{}{}", dead,
      matrix.mutants.size(), killed, matrix.mutants.size() * registry().size(), registry().size(),
      matrix.seeds, matrix.drawn > 0 ? fmt::format(" and {} drawn cases", matrix.drawn) : "",
      before > 0 ? fmt::format("; {} of the cells are those of {}", before, matrix.before) : "");
}

}  // namespace

const gdn_mutant& mutant_named(const std::string& name) {
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    if (name == gdn_mutant_at(i)->name) return *gdn_mutant_at(i);
  }
  static const gdn_mutant none = {};
  return none;
}

std::string one_line_of(const std::vector<std::string>& list) {
  return list.empty() ? "-" : fmt::format("{}", fmt::join(list, " "));
}

std::string domain_of(const Invariant& invariant) {
  struct Count {
    size_t cases = 0, applies = 0;
  };
  std::map<Subject, Count> counts;
  for (const Case& c : probe_cases()) {
    Count& count = counts[c.subject];
    ++count.cases;
    count.applies += invariant.claim.applies(c);
  }
  std::vector<std::string> parts;
  for (const auto& [subject, count] : counts) {
    if (count.applies == 0) continue;
    std::string part(name_of(subject));
    const double percent =
        100 * static_cast<double>(count.applies) / static_cast<double>(count.cases);
    if (count.applies < count.cases) part += fmt::format(" {:.2g} %", percent);
    parts.push_back(part);
  }
  if (parts.size() == counts.size() && parts.size() > 1) {
    const bool always = std::none_of(counts.begin(), counts.end(), [](const auto& one) {
      return one.second.applies < one.second.cases;
    });
    if (always) return "every case";
  }
  return parts.empty() ? "none that was drawn" : fmt::format("{}", fmt::join(parts, ", "));
}

// What a coverage-guided search takes of the cases that it makes.
std::string one_in_of_search(const Claim& claim) {
  const int64_t layers = claim.one_in * claim.searched_layers_one_in;
  const int64_t others = claim.one_in * claim.searched_others_one_in;
  if (layers == others) return fmt::format("{}", layers);
  return fmt::format("{}, layers {}", others, layers);
}

// What the statistical tier catches it does not kill.
std::string catches_of(const Claim& claim) {
  if (claim.suspects.empty()) return one_line_of(claim.kills);
  return "suspects " + one_line_of(claim.suspects);
}

size_t kills_of(const KillMatrix& matrix, size_t row) {
  const std::vector<Cell>& cells = matrix.cells[row];
  return static_cast<size_t>(std::count_if(
      cells.begin(), cells.end(), [](const Cell& cell) { return cell.seen == Seen::killed; }));
}

TextTable invariants_table() {
  TextTable table{
      {"no.", "invariant", "claim", "domain", "one in", "searched", "about", "needs", "kills"}, {}};
  for (size_t i = 0; i < registry().size(); ++i) {
    const Claim& claim = registry()[i].claim;
    table.rows.push_back({fmt::format("{}", i + 1), registry()[i].name, claim.claim,
                          domain_of(registry()[i]), fmt::format("{}", claim.one_in),
                          one_in_of_search(claim),
                          claim.judges.empty() ? "any engine" : one_line_of(claim.judges),
                          one_line_of(claim.needs), catches_of(claim)});
  }
  return table;
}

TextTable mutants_table() {
  TextTable table{{"mutant", "operator", "planted fault", "named by"}, {}};
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    std::vector<std::string> named_by;
    for (const Invariant& invariant : registry()) {
      if (names(invariant, mutant.name)) named_by.push_back(invariant.name);
    }
    table.rows.push_back(
        {fmt::format("mutant:{}", mutant.name), mutant.op, mutant.bug, one_line_of(named_by)});
  }
  return table;
}

std::vector<std::string> problems_of(const KillMatrix& matrix) {
  std::vector<std::string> problems;
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    const Killers killers = killers_of(matrix, row);
    const std::string& name = matrix.mutants[row];
    if (killers.named.empty() && killers.others.empty()) {
      problems.push_back(name + ": it is alive, no invariant kills it");
    }
    if (killers.named.empty() && killers.missed.empty()) {
      problems.push_back(name + ": no invariant names it among its kills");
    }
    for (const std::string& invariant : killers.missed) {
      problems.push_back(fmt::format("{}: {} names it and misses it", name, invariant));
    }
  }
  return problems;
}

std::string as_text(const KillMatrix& matrix) {
  TextTable table{{"mutant", "operator", "unnamed", "killed by those that name it"}, {}};
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    const Killers killers = killers_of(matrix, row);
    table.rows.push_back({matrix.mutants[row], mutant_named(matrix.mutants[row]).op,
                          fmt::format("+{}", killers.others.size()), one_line_of(killers.named)});
  }
  std::string text = as_text(table);
  text += fmt::format("\nA column an invariant, by its number in `list invariants`. {}\n\n{}\n{}\n",
                      legend, grid(matrix), totals(matrix));
  for (const std::string& problem : problems_of(matrix)) text += "error: " + problem + "\n";
  return text + "replay: " + matrix.command + "\n";
}

std::string as_json(const KillMatrix& matrix) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    ordered_json cells = ordered_json::array();
    for (size_t i = 0; i < registry().size(); ++i) {
      const Cell& cell = matrix.cells[row][i];
      const char* seen = cell.seen == Seen::killed         ? "killed"
                         : cell.seen == Seen::suspected    ? "suspected"
                         : cell.seen == Seen::engine_error ? "engine_error"
                         : cell.seen == Seen::alive        ? "alive"
                                                           : "never_applied";
      cells.push_back({{"invariant", registry()[i].name},
                       {"names_it", names(registry()[i], matrix.mutants[row])},
                       {"seen", seen},
                       {"on", cell.on},
                       {"detail", cell.detail}});
    }
    const gdn_mutant& entry = mutant_named(matrix.mutants[row]);
    rows.push_back({{"mutant", matrix.mutants[row]},
                    {"operator", entry.op},
                    {"bug", entry.bug},
                    {"cells", cells}});
  }
  const ordered_json root = {{"format", "deltaproof-matrix"},   {"version", 1},
                             {"deltaproof", matrix.version},    {"command", matrix.command},
                             {"seeds", matrix.seeds},           {"drawn_cases", matrix.drawn},
                             {"problems", problems_of(matrix)}, {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string catalogue_markdown(const KillMatrix& matrix) {
  TextTable mutants{{"mutant", "operator", "planted fault", "named and killed by", "others"}, {}};
  for (size_t row = 0; row < matrix.mutants.size(); ++row) {
    const Killers killers = killers_of(matrix, row);
    const gdn_mutant& entry = mutant_named(matrix.mutants[row]);
    mutants.rows.push_back({entry.name, entry.op, entry.bug, one_line_of(killers.named),
                            fmt::format("{}", killers.others.size())});
  }
  std::string text = fmt::format("Written by {}.\n\n", code_for_markdown(matrix.command));
  text += as_markdown(invariants_table());
  text += fmt::format("\n{}.\n\n", totals(matrix)) + as_markdown(mutants);
  text += fmt::format("\nA column an invariant, by its number above. {}\n\n```\n", legend);
  return text + grid(matrix) + "```\n";
}

}  // namespace gdn
