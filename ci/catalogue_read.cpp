// A report of `matrix` read back: a run on a large machine is written into documents on another.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "ci/catalogue.h"

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

std::vector<Cell> cells_of(const json& row) {
  std::vector<Cell> cells(registry().size());
  const json& given = row.at("cells");
  if (given.size() != cells.size()) {
    throw std::runtime_error(fmt::format("it has {} invariants, this program {}: judge again",
                                         given.size(), cells.size()));
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    if (given[i].at("invariant") != registry()[i].name) {
      throw std::runtime_error(
          fmt::format("this program has no invariant {} at place {}: judge again",
                      given[i].at("invariant").dump(), i + 1));
    }
    cells[i].seen = seen_of(given[i].at("seen"));
    cells[i].on = given[i].at("on");
    cells[i].detail = given[i].at("detail");
  }
  return cells;
}

KillMatrix matrix_of(const json& root) {
  if (root.at("format") != "deltaproof-matrix" || root.at("version") != 1) {
    throw std::runtime_error("expected a report of matrix --json, of version 1");
  }
  KillMatrix matrix;
  matrix.version = root.at("deltaproof");
  matrix.command = root.at("command");
  matrix.seeds = root.at("seeds");
  matrix.drawn = root.at("drawn_cases");
  for (const json& row : root.at("rows")) {
    matrix.mutants.push_back(row.at("mutant"));
    if (mutant_named(matrix.mutants.back()).name == nullptr) {
      throw std::runtime_error(
          fmt::format("this program has no mutant {}: judge again", matrix.mutants.back()));
    }
    matrix.cells.push_back(cells_of(row));
  }
  if (matrix.mutants.size() != gdn_mutant_count()) {
    throw std::runtime_error(fmt::format("it has {} mutants, this program {}: judge again",
                                         matrix.mutants.size(), gdn_mutant_count()));
  }
  return matrix;
}

}  // namespace

std::optional<KillMatrix> read_matrix(const std::string& path, std::string* why) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || !(bytes << file.rdbuf())) {
    *why = path + ": cannot be read";
    return std::nullopt;
  }
  try {
    return matrix_of(json::parse(bytes.str()));
  } catch (const std::exception& error) {
    *why = fmt::format("{}: {}", path, error.what());
    return std::nullopt;
  }
}

}  // namespace gdn
