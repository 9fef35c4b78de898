// The lives of mutants as a table and as JSON: those that survive first, then by how long it took.
#include "ci/survivors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ci/catalogue.h"
#include "ci/table.h"

namespace gdn {

std::string as_text(const Survivors& survivors) {
  std::vector<MutantLife> lives = survivors.lives;
  std::stable_sort(lives.begin(), lives.end(), [](const MutantLife& one, const MutantLife& other) {
    const bool survives = one.killed_by.empty(), other_survives = other.killed_by.empty();
    if (survives != other_survives) return survives;
    return !survives && one.cases > other.cases;
  });
  TextTable table{{"mutant", "operator", "cases", "verdicts", "killed by"}, {}};
  size_t alive = 0;
  for (const MutantLife& life : lives) {
    const bool survives = life.killed_by.empty();
    alive += survives;
    table.rows.push_back({life.mutant, mutant_named(life.mutant).op, fmt::format("{}", life.cases),
                          fmt::format("{}", life.verdicts),
                          survives ? "survives" : life.killed_by});
  }
  return as_text(table) + fmt::format(
                              "\n{} of {} mutants survive {} seeds and {} drawn cases\n"
                              "replay: {}\n",
                              alive, lives.size(), survivors.seeds, survivors.drawn,
                              survivors.command);
}

std::string as_json(const Survivors& survivors) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const MutantLife& life : survivors.lives) {
    const gdn_mutant& entry = mutant_named(life.mutant);
    rows.push_back({{"mutant", life.mutant},
                    {"operator", entry.op},
                    {"bug", entry.bug},
                    {"survives", life.killed_by.empty()},
                    {"cases", life.cases},
                    {"verdicts", life.verdicts},
                    {"killed_by", life.killed_by},
                    {"on", life.on},
                    {"how", life.how},
                    {"detail", life.detail}});
  }
  const ordered_json root = {{"format", "deltaproof-survivors"},
                             {"version", 1},
                             {"deltaproof", survivors.version},
                             {"command", survivors.command},
                             {"seeds", survivors.seeds},
                             {"drawn_cases", survivors.drawn},
                             {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
