// Shards as --shard has them.
#include "ci/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gdn {

std::optional<Shard> parse_shard(const std::string& text) {
  constexpr size_t count_end = 1'000'000;
  const size_t slash = std::min(text.find('/'), text.size());
  const auto number = [&](size_t begin, size_t end, size_t& to) {
    const auto [last, error] = std::from_chars(text.data() + begin, text.data() + end, to);
    return error == std::errc() && last == text.data() + end;
  };
  Shard shard;
  const bool is_one = slash < text.size() && number(0, slash, shard.index) &&
                      number(slash + 1, text.size(), shard.count) && shard.index < shard.count &&
                      shard.count < count_end;
  return is_one ? std::optional(shard) : std::nullopt;
}

std::string why_no_shard(const std::string& text) {
  return fmt::format("--shard: expected i/n, as 0/4 to 3/4, got '{}'", text);
}

}  // namespace gdn
