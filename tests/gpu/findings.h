// What one part of a GPU run found: statements that hold or do not, and tables of figures. As text
// for a terminal, and as JSON, which the report is made of.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gdn::gpu {

using Cell = std::variant<std::string, int64_t, double>;

struct FiguresTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;  // each as long as the header
};

// Something that must be true. `detail` has the figures, or why it is not.
struct Statement {
  std::string text;
  bool holds = false;
  std::string detail;
};

struct Findings {
  std::string name;  // of the part: "same_bits"
  std::string engine;
  std::vector<Statement> statements;
  std::vector<FiguresTable> tables;
  std::vector<std::string> notes;  // what was not run, and why
  double seconds = 0;

  void state(bool holds, std::string text, std::string detail = "") {
    statements.push_back({std::move(text), holds, std::move(detail)});
  }
  bool all_hold() const;  // and there is at least one
};

std::string as_text(const Findings& findings);
std::string as_json(const Findings& findings);

}  // namespace gdn::gpu
