// Bytes that a terminal or a reader of Markdown would obey, as text.
#include "ci/escaped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace gdn {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: what begins here is no UTF-8
};

// Overlong forms, surrogates and what lies beyond U+10FFFF are no UTF-8.
Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + bytes > text.size()) return {};
  uint32_t code = first & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

// Controls; format characters, which hide or turn what stands beside them; line and paragraph
// separators; and noncharacters, which XML does not allow.
bool is_hidden(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  static constexpr Range hidden[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160},
      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
      {0xfdd0, 0xfdef}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
  };
  if ((code & 0xfffe) == 0xfffe) return true;
  return std::any_of(std::begin(hidden), std::end(hidden),
                     [&](Range range) { return range.first <= code && code <= range.last; });
}

std::string shown(std::string_view text, bool keep_lines) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Character here = character_at(text, at);
    if (here.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    if (!is_hidden(here.code) || (keep_lines && here.code == '\n')) {
      out += text.substr(at, here.bytes);
    } else {
      out += here.code < 0x100 ? fmt::format("\\x{:02x}", here.code)
                               : fmt::format("\\u{:04x}", here.code);
    }
    at += here.bytes;
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) { return shown(text, false); }
std::string visible_lines(std::string_view text) { return shown(text, true); }

std::string for_markdown(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
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
  const std::string code = visible(text);
  size_t longest = 0;
  for (size_t at = 0, run = 0; at < code.size(); ++at) {
    run = code[at] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return longest == 0 ? fence + code + fence : fence + " " + code + " " + fence;
}

}  // namespace gdn
