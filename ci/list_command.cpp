// `deltaproof list`: what is built in, by the names that options and cases take.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ci/catalogue.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/judging.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/table.h"
#include "invariants/harness/engine.h"
#include "reference/dialect.h"

namespace gdn {
namespace {

TextTable engines() {
  TextTable table{{"engine", "contract", "calls it lacks"}, {}};
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    const gdn_api* api = gdn_builtin(i);
    std::string why;
    const auto engine = use_engine(api->name, api, &why);
    table.rows.push_back({api->name, engine ? engine->description.contract.name : why,
                          engine ? one_line_of(calls_lacked(engine->description)) : "-"});
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
    table.rows.push_back({std::string(name), one_line_of(differences)});
  }
  return table;
}

struct Part {
  const char* what;
  const char* title;
  TextTable (*table)();
};

constexpr Part parts[] = {
    {"engines", "Engines (--engine NAME, or the path of a shared library)", engines},
    {"mutants", "Mutants, engines with one planted fault each (--engine mutant:NAME)",
     mutants_table},
    {"kernel_mutants", "Mutants that are edits of the kernels (docs/kernel-mutants.md)",
     kernel_mutants_table},
    {"invariants", "Invariants (--invariant NAME)", invariants_table},
    {"dialects", "Dialects (--dialect NAME[,dimension=value]...)", dialects},
};

// A row is an object whose keys are the words of the header.
nlohmann::ordered_json json_of(const TextTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::vector<std::string>& row : table.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) object[table.header[i]] = row[i];
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace

ExitStatus run_list(const ListCommand& command) {
  const std::string none = command.what == "kernel_mutants" ? why_no_kernel_mutants() : "";
  if (!none.empty()) return refuse(none, exit_infrastructure);
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Part& part : parts) {
    if (!command.what.empty() && command.what != part.what) continue;
    const TextTable table = part.table();
    if (!command.json) to_terminal("{}\n\n{}\n", part.title, as_text(table));
    all[part.what] = json_of(table);
  }
  if (command.json) {
    to_terminal("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return exit_ok;
}

std::string version_text() { return fmt::format("deltaproof {}", DELTAPROOF_VERSION); }

}  // namespace gdn
