// Text of others (engines, their names, records, files) in what is printed: no byte of it may move
// a cursor, end a line or be markup.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace gdn {

// Valid UTF-8 that shows what it is: bytes that are none as \xff, characters that control a
// terminal, the direction of text or nothing that can be seen as \x1b and \u202e. One line.
std::string visible(std::string_view text);
// The same of many lines.
std::string visible_lines(std::string_view text);
// That as text of a Markdown document, in a cell of a table or outside of one.
std::string for_markdown(std::string_view text);
// That as code within a line of a Markdown document.
std::string code_for_markdown(std::string_view text);

// To standard output.
template <class... A>
void to_terminal(fmt::format_string<A...> format, A&&... values) {
  const std::string text = fmt::format(format, std::forward<A>(values)...);
  fmt::print("{}", visible_lines(text));
}

}  // namespace gdn
