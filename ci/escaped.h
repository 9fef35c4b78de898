// Text of others (engines, their names, records, files) in what is printed: no byte of it may move
// a cursor, end a line or be markup.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace gdn {

// One line of printable characters, with \x1b for what is none.
std::string for_terminal(std::string_view text);
// That as text of a Markdown document, in a cell of a table or outside of one.
std::string for_markdown(std::string_view text);
// That as code within a line of a Markdown document.
std::string code_for_markdown(std::string_view text);

// A text of many lines that others may have had a part in: with no control character but line ends.
std::string lines_for_terminal(std::string_view text);

// To standard output.
template <class... A>
void to_terminal(fmt::format_string<A...> format, A&&... values) {
  const std::string text = fmt::format(format, std::forward<A>(values)...);
  fmt::print("{}", lines_for_terminal(text));
}

}  // namespace gdn
