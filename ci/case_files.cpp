// Cases as files, and in words for people.
#include "ci/case_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "ci/files.h"
#include "invariants/harness/safetensors.h"
#include "reference/rng.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

std::string count_of(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string shape_in_words(const Shape& s) {
  return fmt::format("hidden {}, {} of {} and {} of {}, {}", s.hidden_size,
                     count_of(s.num_k_heads, "k-head"), s.head_k_dim,
                     count_of(s.num_v_heads, "v-head"), s.head_v_dim,
                     count_of(s.conv_kernel, "tap"));
}

// The lines of the text form that begin with `key`, without it.
std::vector<std::string> lines_of(const Case& c, std::string_view key) {
  std::vector<std::string> lines;
  const std::string text = print(c);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(key)) lines.emplace_back(line.substr(key.size()));
    at = end + 1;
  }
  return lines;
}

bool has_corpus(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "corpus" / "seeds", error);
}

}  // namespace

std::optional<Case> read_case(const std::string& path, std::string* why) {
  const std::optional<std::string> text = read_bytes(path, why);
  if (!text) return std::nullopt;
  std::optional<Case> c = parse_case(*text, why);
  if (!c) *why = fmt::format("{}: {}", printable_path(path), *why);
  return c;
}

bool read_cases_below(const std::string& folder, std::vector<CaseFile>& files, std::string* why) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    *why = fmt::format("{}: no such folder, expected cases in it", printable_path(folder));
    return false;
  }
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::optional<Case> c = read_case(path, why);
    if (!c) return false;
    files.push_back({path, *std::move(c)});
  }
  return true;
}

bool read_corpus(const std::string& corpus, std::vector<CaseFile>& files, std::string* why) {
  return read_cases_below(corpus + "/seeds", files, why) &&
         read_cases_below(corpus + "/regressions", files, why);
}

std::string find_corpus() {
  if (has_corpus(".")) return "corpus";
  std::error_code error;
  fs::path folder = fs::canonical("/proc/self/exe", error);
  while (!error && folder.has_relative_path()) {
    folder = folder.parent_path();
    if (has_corpus(folder)) return (folder / "corpus").string();
  }
  return "";
}

std::string commented(const Case& c, const std::vector<std::string>& comments) {
  // Longer than a line of words may be; what an engine says may be anything.
  constexpr size_t longest = 1000;
  std::string text = print(c);
  std::string lines;
  for (const std::string& comment : comments) lines += "# " + printable(comment, longest) + "\n";
  return text.insert(text.find('\n') + 1, lines);
}

std::string in_words(const Case& c) {
  std::string text = fmt::format("case {}: {}", hash8(c), name_of(c.subject));
  if (c.subject == Subject::layer) text += " of " + count_of(c.shape.num_layers, "layer");
  text += fmt::format(", {}", shape_in_words(c.shape));
  if (c.rows > 0) text += fmt::format(", a matrix of {} rows, {} columns", c.rows, c.cols);
  if (c.tokens > 0) text += ", " + count_of(c.tokens, "token");
  text += fmt::format(", {} weights, seed {}\n", name_of(c.weights), c.seed);
  for (const std::string& line : lines_of(c, "dialect ")) text += "  dialect " + line + "\n";
  for (const std::string& line : lines_of(c, "recipe ")) text += "  numbers: " + line + "\n";
  for (const std::string& line : lines_of(c, "pool ")) text += "  pool: " + line + "\n";
  for (const auto& [name, bits] : c.numbers) {
    text += fmt::format("  {}: {} given one by one\n", name, count_of(std::ssize(bits), "number"));
  }
  const std::vector<std::string> calls = lines_of(c, "call ");
  if (calls.empty()) {
    return text + (c.subject == Subject::layer ? "  its calls: the invariant's own\n" : "");
  }
  for (size_t i = 0; i < calls.size(); ++i) text += fmt::format("  {:3}  {}\n", i + 1, calls[i]);
  return text;
}

namespace {

std::optional<uint64_t> parse_seed(const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  const bool hexadecimal =
      !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!hexadecimal) return std::nullopt;
  return fnv1a64(text);
}

}  // namespace

ExitStatus seed_asked(const std::string& text, uint64_t* seed) {
  const std::optional<uint64_t> number = parse_seed(text.empty() ? "1" : text);
  if (!number) {
    return refuse(
        fmt::format("--seed: expected a number below 2^64 or hexadecimal text, got '{}'", text),
        exit_bad_input);
  }
  *seed = *number;
  return exit_ok;
}

}  // namespace gdn
