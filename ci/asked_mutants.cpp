// Seeds, drawn cases and mutants, as several commands ask for them.
#include "ci/asked_mutants.h"

#include <fmt/format.h>

#include "invariants/harness/regimes.h"

namespace gdn {

ExitStatus read_seeds(const std::string& folder, std::vector<CaseFile>& cases) {
  std::string below = folder;
  if (below.empty() && !find_corpus().empty()) below = find_corpus() + "/seeds";
  std::string why = "there is no folder corpus here, give its seeds with --seeds";
  if (below.empty() || !read_cases_below(below, cases, &why)) return refuse(why, exit_bad_input);
  if (cases.empty()) return refuse(below + ": expected cases in it", exit_bad_input);
  return exit_ok;
}

ExitStatus add_drawn(const std::string& seed, int64_t count, std::vector<CaseFile>& cases) {
  uint64_t number = 0;
  const ExitStatus has_seed = seed_asked(seed, &number);
  if (has_seed != exit_ok) return has_seed;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    cases.push_back({fmt::format("case {} of seed {}", i, number), draw_case(number, i)});
  }
  return exit_ok;
}

std::string without_prefix(const std::string& name) {
  constexpr std::string_view prefix = "mutant:";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

ExitStatus find_mutants(std::vector<std::string>& names, std::vector<EngineSource>& engines) {
  for (size_t i = 0, count = names.empty() ? gdn_mutant_count() : 0; i < count; ++i) {
    names.emplace_back(gdn_mutant_at(i)->name);
  }
  for (std::string& name : names) {
    name = without_prefix(name);
    std::string why;
    std::optional<EngineSource> engine = find_engine("mutant:" + name, &why);
    if (!engine) return refuse("--mutant: " + why, exit_bad_input);
    engines.push_back(*std::move(engine));
  }
  return exit_ok;
}

}  // namespace gdn
