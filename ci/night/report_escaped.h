// Text of others in the formats of a report: engines, cases, commits and their messages are
// anyone's text, and none of it may be markup, a control character, or change the order in which it
// reads.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ci/escaped.h"

namespace gdn {

// As text of an HTML document, or an attribute's value in double quotes.
std::string for_html(std::string_view text);
std::string lines_for_html(std::string_view text);

// As text of an XML 1.0 document, or an attribute's value in double quotes.
std::string for_xml(std::string_view text);
std::string lines_for_xml(std::string_view text);

// A block of lines as code of a Markdown document, with a fence that nothing in it ends.
std::string code_block_for_markdown(std::string_view text);

// A JSON text that may stand within a script element: ASCII, and no character that opens markup.
std::string json_for_html(const nlohmann::ordered_json& value);
// As a file of its own. What is no UTF-8 is replaced.
std::string json_for_file(const nlohmann::ordered_json& value);

}  // namespace gdn
