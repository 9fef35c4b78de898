// Tables as aligned text and as Markdown.
#include "ci/table.h"

#include <algorithm>

#include "ci/escaped.h"

namespace gdn {
namespace {

std::vector<size_t> widths_of(const TextTable& table) {
  std::vector<size_t> widths(table.header.size());
  for (size_t i = 0; i < widths.size(); ++i) {
    widths[i] = table.header[i].size();
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

TextTable printable_cells(TextTable table) {
  for (std::vector<std::string>& row : table.rows) {
    for (std::string& cell : row) cell = visible(cell);
  }
  return table;
}

std::string padded_line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line += std::string(widths[i] - cells[i].size() + 2, ' ');
  }
  return line + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += ' ';
    line += for_markdown(cell) + " |";
  }
  return line + "\n";
}

}  // namespace

std::string as_text(const TextTable& given) {
  const TextTable table = printable_cells(given);
  const std::vector<size_t> widths = widths_of(table);
  std::string text = padded_line(table.header, widths);
  for (const auto& row : table.rows) text += padded_line(row, widths);
  return text;
}

std::string as_markdown(const TextTable& table) {
  std::string text = markdown_line(table.header) + "|";
  for (size_t i = 0; i < table.header.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_line(row);
  return text;
}

}  // namespace gdn
