// The JSON header of a safetensors file as plain data; the ranges in it are not yet checked.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gdn {

struct HeaderEntry {
  std::string name;
  std::string type;
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // of the data
};

struct Header {
  std::map<std::string, std::string, std::less<>> metadata;
  std::vector<HeaderEntry> entries;  // names are distinct
};

// An empty string, or what is wrong and what was expected.
std::string read_header(std::span<const uint8_t> text, Header& out);

}  // namespace gdn
