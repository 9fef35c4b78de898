// A part of work that several runs share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace gdn {

struct Shard {
  size_t index = 0, count = 1;  // index 0 to count - 1
};
// "1/3" is the second of three: 0/3 to 2/3.
std::optional<Shard> parse_shard(const std::string& text);
// What to say of any other text.
std::string why_no_shard(const std::string& text);

}  // namespace gdn
