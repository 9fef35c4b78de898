// A report of `matrix` read back: what is new since then is judged alone, on whatever machine.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ci/catalogue.h"
#include "ci/files.h"

namespace gdn {
namespace {

using nlohmann::json;

Cell::Seen seen_of(const std::string& word) {
  constexpr std::pair<const char*, Cell::Seen> words[] = {
      {"killed", Cell::Seen::killed},
      {"suspected", Cell::Seen::suspected},
      {"engine_error", Cell::Seen::engine_error},
      {"alive", Cell::Seen::alive},
      {"never_applied", Cell::Seen::nothing}};
  for (const auto& [name, seen] : words) {
    if (word == name) return seen;
  }
  throw std::runtime_error(fmt::format("'seen' is '{}'", word));
}

void take_row(const json& row, std::vector<Cell>& cells) {
  for (const json& given : row.at("cells")) {
    const std::string invariant = given.at("invariant");
    for (size_t i = 0; i < registry().size(); ++i) {
      if (registry()[i].name != invariant) continue;
      cells[i].seen = seen_of(given.at("seen"));
      cells[i].on = given.at("on");
      cells[i].detail = given.at("detail");
      cells[i].is_of_before = true;
    }
  }
}

void take(const json& root, KillMatrix& matrix) {
  if (root.at("format") != "deltaproof-matrix" || root.at("version") != 1) {
    throw std::runtime_error("expected a report of matrix --json, of version 1");
  }
  matrix.before = fmt::format("an earlier run on {} seeds, `{}`", root.at("seeds").get<size_t>(),
                              root.at("command").get<std::string>());
  for (const json& row : root.at("rows")) {
    const auto at = std::find(matrix.mutants.begin(), matrix.mutants.end(), row.at("mutant"));
    if (at == matrix.mutants.end()) continue;
    take_row(row, matrix.cells[static_cast<size_t>(at - matrix.mutants.begin())]);
  }
}

}  // namespace

bool read_cells(const std::string& path, KillMatrix& matrix, std::string* why) {
  const std::optional<std::string> bytes = read_bytes(path, why);
  if (!bytes) return false;
  try {
    take(json::parse(*bytes), matrix);
  } catch (const std::exception& error) {
    *why = fmt::format("{}: {}", path, error.what());
    return false;
  }
  return true;
}

}  // namespace gdn
