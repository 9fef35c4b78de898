// `deltaproof list`: what is built in, by the names that options and cases take.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ci/commands.h"
#include "ci/table.h"
#include "invariants/harness/engine.h"
#include "invariants/harness/invariant.h"
#include "reference/case.h"
#include "reference/dialect.h"

namespace gdn {
namespace {

void print_titled(const char* title, const TextTable& table) {
  fmt::print("{}\n\n{}\n", title, as_text(table));
}

// The calls of the ABI that a description leaves out.
std::string missing_calls(const Description& description) {
  std::vector<std::string> missing;
  for (int i = 0; i < call_kind_count; ++i) {
    const std::string name(name_of(static_cast<CallKind>(i)));
    if (!description.calls.contains(name)) missing.push_back(name);
  }
  return missing.empty() ? "none" : fmt::format("{}", fmt::join(missing, " "));
}

TextTable engines() {
  TextTable table{{"engine", "contract", "calls it lacks"}, {}};
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    const gdn_api* api = gdn_builtin(i);
    std::string why;
    const auto engine = use_engine(api->name, api, &why);
    table.rows.push_back({api->name, engine ? engine->description.contract.name : why,
                          engine ? missing_calls(engine->description) : "-"});
  }
  return table;
}

TextTable mutants() {
  TextTable table{{"mutant", "operator", "planted fault"}, {}};
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant* mutant = gdn_mutant_at(i);
    table.rows.push_back({fmt::format("mutant:{}", mutant->name), mutant->op, mutant->bug});
  }
  return table;
}

TextTable invariants() {
  TextTable table{{"invariant", "claim", "kills"}, {}};
  for (const Invariant& invariant : registry()) {
    table.rows.push_back({invariant.name, invariant.claim.claim,
                          fmt::format("{}", fmt::join(invariant.claim.kills, " "))});
  }
  return table;
}

// The dimensions in which a preset differs from deltaproof's own conventions.
TextTable dialects() {
  TextTable table{{"dialect", "differs from deltaproof in"}, {}};
  const Dialect own;
  for (const std::string_view name : dialect_names()) {
    const std::optional<Dialect> dialect = dialect_named(name);
    std::vector<std::string> differences;
    for (const std::string_view dimension : dialect_dimensions()) {
      const std::string value = get_dimension(*dialect, dimension);
      if (value != get_dimension(own, dimension)) {
        differences.push_back(fmt::format("{}={}", dimension, value));
      }
    }
    table.rows.push_back({std::string(name), differences.empty()
                                                 ? "-"
                                                 : fmt::format("{}", fmt::join(differences, " "))});
  }
  return table;
}

}  // namespace

ExitStatus run_list() {
  print_titled("Engines (--engine NAME, or the path of a shared library)", engines());
  print_titled("Mutants: the twin with one planted fault each", mutants());
  print_titled("Invariants", invariants());
  print_titled("Dialects (--dialect NAME[,dimension=value]...)", dialects());
  return exit_ok;
}

std::string version_text() { return fmt::format("deltaproof {}", DELTAPROOF_VERSION); }

}  // namespace gdn
