// Bytes that a terminal or a reader of Markdown would obey, as text.
#include "ci/escaped.h"

#include <algorithm>

#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

// C0, DEL, and C1 as UTF-8 spells it.
bool is_control(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < ' ' || byte == 0x7f) return true;
  const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : ' ');
  return byte == 0xc2 && next >= 0x80 && next < 0xa0;
}

}  // namespace

std::string for_terminal(std::string_view text) { return printable(text, text.size()); }

std::string for_markdown(std::string_view text) {
  std::string out;
  for (const char c : for_terminal(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\|`*[]~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string code_for_markdown(std::string_view text) {
  const std::string code = for_terminal(text);
  size_t longest = 0;
  for (size_t at = 0, run = 0; at < code.size(); ++at) {
    run = code[at] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return longest == 0 ? fence + code + fence : fence + " " + code + " " + fence;
}

std::string lines_for_terminal(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n' && is_control(text, at)) {
      out += for_terminal(text.substr(at, 1));
    } else {
      out += text[at];
    }
  }
  return out;
}

}  // namespace gdn
