// Bytes that a terminal or a reader of Markdown would obey, as text.
#include "ci/escaped.h"

#include <algorithm>
#include <cstdint>

#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

// The length of the character there, if it is one of UTF-8, beyond ASCII, that stands in a line as
// what it is: no control, and none of those that have no width or turn the direction of writing.
// Otherwise 0.
size_t printable_beyond_ascii(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  constexpr uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
  if (byte(0) < 0xc2 || byte(0) > 0xf4) return 0;
  uint32_t code = byte(0) & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const auto within = [&](uint32_t first, uint32_t last) { return code >= first && code <= last; };
  const bool is_bare = within(0xd800, 0xf8ff) || within(0x200b, 0x200f) || within(0x2028, 0x202e) ||
                       within(0x2060, 0x206f) || within(0xfe00, 0xfe0f) || code == 0xfeff ||
                       code == 0xad || within(0xfff0, 0xffff) || code > 0x1ffff;
  return code < least[length] || is_bare ? 0 : length;
}

// C0, DEL, and C1 as UTF-8 spells it.
bool is_control(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < ' ' || byte == 0x7f) return true;
  const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : ' ');
  return byte == 0xc2 && next >= 0x80 && next < 0xa0;
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = printable_beyond_ascii(text, at);
    out += length > 0 ? std::string(text.substr(at, length)) : printable(text.substr(at, 1), 1);
    at += std::max<size_t>(1, length);
  }
  return out;
}

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
