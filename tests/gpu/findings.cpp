// Findings as text and as JSON.
#include "tests/gpu/findings.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ci/table.h"

namespace gdn::gpu {
namespace {

std::string text_of(const Cell& cell) {
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const whole = std::get_if<int64_t>(&cell)) return fmt::format("{}", *whole);
  return fmt::format("{:.4g}", std::get<double>(cell));
}

nlohmann::ordered_json json_of(const Cell& cell) {
  return std::visit([](const auto& value) { return nlohmann::ordered_json(value); }, cell);
}

nlohmann::ordered_json json_of(const FiguresTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& row : table.rows) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const Cell& cell : row) cells.push_back(json_of(cell));
    rows.push_back(std::move(cells));
  }
  return {{"title", table.title}, {"header", table.header}, {"rows", std::move(rows)}};
}

}  // namespace

bool Findings::all_hold() const {
  return !statements.empty() && std::all_of(statements.begin(), statements.end(),
                                            [](const Statement& s) { return s.holds; });
}

std::string as_text(const Findings& findings) {
  std::string text;
  for (const FiguresTable& table : findings.tables) {
    TextTable plain{table.header, {}};
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<std::string>& cells = plain.rows.emplace_back();
      for (const Cell& cell : row) cells.push_back(text_of(cell));
    }
    text += fmt::format("{}\n{}\n", table.title, as_text(plain));
  }
  for (const std::string& note : findings.notes) text += fmt::format("note: {}\n", note);
  for (const Statement& s : findings.statements) {
    text += fmt::format("{}: {}{}{}\n", s.holds ? "holds" : "FAILS", s.text,
                        s.detail.empty() ? "" : ": ", s.detail);
  }
  return text;
}

std::string as_json(const Findings& findings) {
  nlohmann::ordered_json statements = nlohmann::ordered_json::array();
  for (const Statement& s : findings.statements) {
    statements.push_back({{"text", s.text}, {"holds", s.holds}, {"detail", s.detail}});
  }
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (const FiguresTable& table : findings.tables) tables.push_back(json_of(table));
  const nlohmann::ordered_json all = {{"name", findings.name},
                                      {"engine", findings.engine},
                                      {"holds", findings.all_hold()},
                                      {"seconds", findings.seconds},
                                      {"statements", std::move(statements)},
                                      {"tables", std::move(tables)},
                                      {"notes", findings.notes}};
  // Text of an engine may hold any bytes.
  return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gdn::gpu
