// Tables as aligned text for a terminal and as Markdown for a report: one value, two prints.
#pragma once

#include <string>
#include <vector>

namespace gdn {

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header
};

std::string as_text(const Table& table);
std::string as_markdown(const Table& table);

}  // namespace gdn
