// One place for each format's escapes, over ci/escaped's notion of what is visible.
#include "ci/night/report_escaped.h"

#include <fmt/format.h>

#include <algorithm>

namespace gdn {
namespace {

// The same five in HTML and XML. An escaped '>' leaves no "]]>".
std::string without_markup(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string for_html(std::string_view text) { return without_markup(visible(text)); }
std::string lines_for_html(std::string_view text) { return without_markup(visible_lines(text)); }
std::string for_xml(std::string_view text) { return without_markup(visible(text)); }
std::string lines_for_xml(std::string_view text) { return without_markup(visible_lines(text)); }

std::string code_block_for_markdown(std::string_view text) {
  std::string lines = visible_lines(text);
  if (!lines.empty() && lines.back() != '\n') lines += '\n';
  size_t longest = 2, run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}\n", fence, lines, fence);
}

std::string json_for_html(const nlohmann::ordered_json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    // Only within strings do these occur, where an escape says the same.
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string json_for_file(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
