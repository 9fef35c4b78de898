// Tables as aligned text for a terminal and as Markdown for a report: one value, two prints.
#pragma once

#include <string>
#include <vector>

namespace gdn {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
};

std::string as_text(const TextTable& table);
std::string as_markdown(const TextTable& table);

}  // namespace gdn
