// `deltaproof export`: cases with their expected values and bounds, for suites that link nothing.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/contract_lab.h"
#include "ci/export_cases.h"
#include "ci/files.h"
#include "ci/supervised.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

// A drawn case of more numbers is left out: a few shapes would fill the file.
constexpr size_t numbers_max = size_t{1} << 16;

size_t count_of(const Numbers& numbers) {
  size_t count = numbers.tiles.size();
  for (const auto& [name, array] : numbers.arrays) count += array.size();
  for (const LayerNumbers& n : numbers.layers) {
    count += n.qkv.size() + n.z.size() + n.out.size() + n.qkv_tiles.size() + n.z_tiles.size() +
             n.out_tiles.size() + n.b.size() + n.a.size();
  }
  for (const std::vector<float>& h : numbers.h) count += h.size();
  return count;
}

bool is_small(const Case& c) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  const auto states = static_cast<size_t>(c.shape.state_count());
  return numbers && count_of(*numbers) <= numbers_max && states <= numbers_max;
}

std::string subject_names() {
  std::string names;
  for (auto i = static_cast<int>(Subject::layer); i <= static_cast<int>(Subject::recurrent); ++i) {
    names += (names.empty() ? "" : " ") + std::string(name_of(static_cast<Subject>(i)));
  }
  return names;
}

bool is_of(const std::set<Subject>& subjects, const Case& c) {
  return subjects.empty() || subjects.contains(c.subject);
}

// Of the default mix, in its order, as many as were asked for.
void draw_cases(const ExportCommand& command, uint64_t seed, const std::set<Subject>& subjects,
                std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const Case& c : cases) names.insert(hash8(c));
  const size_t wanted = cases.size() + static_cast<size_t>(command.cases);
  for (uint64_t i = 0; cases.size() < wanted; ++i) {
    Case c = draw_case(seed, i);
    if (c.subject != Subject::layer) {
      c.calls.clear();
      c.pool = {};
    }
    if (!is_of(subjects, c) || !why_not_exported(c).empty() || !is_small(c)) continue;
    if (names.insert(hash8(c)).second) cases.push_back(std::move(c));
  }
}

ExitStatus read_files(const ExportCommand& command, std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const std::string& path : command.files) {
    std::string why;
    std::optional<Case> c = read_case(path, &why);
    if (!c) return refuse(why, exit_bad_input);
    why = why_not_exported(*c);
    if (!why.empty()) return refuse(path + ": cannot be exported: " + why, exit_bad_input);
    if (names.insert(hash8(*c)).second) cases.push_back(*std::move(c));
  }
  return exit_ok;
}

ExitStatus export_all(const ExportCommand& command, Doing& now) {
  uint64_t seed = 0;
  const ExitStatus has_seed = seed_asked(command.seed, &seed);
  if (has_seed != exit_ok) return has_seed;
  std::set<Subject> subjects;
  for (const std::string& name : command.subjects) {
    const std::optional<Subject> subject = subject_named(name);
    if (!subject) {
      return refuse(fmt::format("--subject: '{}' is none of {}", name, subject_names()),
                    exit_bad_input);
    }
    subjects.insert(*subject);
  }
  std::string why;
  now.enter(Doing::Whose::engine, "contract " + command.contract);
  const std::optional<Contract> contract = contract_named(command.contract, &why);
  if (!contract) return refuse(fmt::format("--contract: {}", why), exit_bad_input);
  now.enter(Doing::Whose::ours, "exporting");
  std::vector<Case> cases;
  const ExitStatus read = read_files(command, cases);
  if (read != exit_ok) return read;
  if (command.files.empty() && command.cases == 0) {
    return refuse("nothing to export: give case files, or --cases", exit_bad_input);
  }
  const std::string in_the_way = why_results_in_the_way({command.out}, command.files);
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable = why_results_not_writable({command.out});
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  draw_cases(command, seed, subjects, cases);
  const Lab lab = lab_of(*contract);
  const std::string content = exported(cases, lab);
  why = write_whole(command.out, content);
  if (!why.empty()) return refuse(why, exit_infrastructure);
  fmt::print("{}: {} cases, {} bytes, contract {}\n", command.out, cases.size(), content.size(),
             contract->name);
  return exit_ok;
}

}  // namespace

ExitStatus run_export(const ExportCommand& command) {
  return supervised([&](Doing& now) { return export_all(command, now); });
}

}  // namespace gdn
