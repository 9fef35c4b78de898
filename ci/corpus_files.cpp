// The corpus as files.
#include "ci/corpus_files.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "ci/case_files.h"
#include "ci/files.h"
#include "invariants/harness/safetensors.h"
#include "reference/rng.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

constexpr const char* parts[] = {"seeds", "regressions", "fuzz"};

bool takes_cases(const std::string& folder) {
  const FuzzTarget* const target = fuzz_target_named(folder);
  return target == nullptr || target->on_cases;
}

CorpusEntry entry_of(const std::string& part, const std::string& folder, const fs::path& path) {
  CorpusEntry entry{part, folder, path.string(), {}, {}, {}};
  std::string why;
  std::optional<std::string> bytes = read_bytes(entry.path, &why);
  if (!bytes) throw std::system_error(std::make_error_code(std::errc::io_error), why);
  entry.bytes = *std::move(bytes);
  if (!takes_cases(folder)) return entry;
  entry.content = parse_case(entry.bytes, &why);
  if (!entry.content) entry.why_no_case = fmt::format("{}: {}", printable_path(entry.path), why);
  return entry;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The length of the number at the front of a text that no letter stands before; 0: none is there.
size_t number_length(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  size_t at = hexadecimal ? 2 : 0;
  const auto digit = [&](size_t i) {
    if (i >= text.size()) return false;
    const auto c = static_cast<unsigned char>(text[i]);
    return hexadecimal ? std::isxdigit(c) != 0 : std::isdigit(c) != 0;
  };
  if (!digit(at)) return 0;
  while (digit(at) || (at < text.size() && text[at] == '.' && digit(at + 1))) ++at;
  if (hexadecimal || at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  const bool is_signed = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+');
  size_t end = at + (is_signed ? 2 : 1);
  if (!digit(end)) return at;
  while (digit(end)) ++end;
  return end;
}

std::vector<std::string_view> comment_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with('#')) continue;
    line.remove_prefix(line.starts_with("# ") ? 2 : 1);
    lines.push_back(line);
  }
  return lines;
}

// In the order in which they stand in a header.
constexpr std::pair<std::string_view, std::string RegressionHeader::*> header_fields[] = {
    {"what", &RegressionHeader::what},           {"found by", &RegressionHeader::found_by},
    {"engines", &RegressionHeader::engines},     {"operator", &RegressionHeader::op},
    {"diagnosis", &RegressionHeader::diagnosis}, {"commit", &RegressionHeader::commit},
};

}  // namespace

const FuzzTarget* fuzz_target_named(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(fuzz_targets), std::end(fuzz_targets),
                   [&](const FuzzTarget& target) { return target.name == name; });
  return found == std::end(fuzz_targets) ? nullptr : found;
}

const FuzzTarget* fuzz_target_of_path(const std::string& path) {
  const FuzzTarget* last = nullptr;
  for (const fs::path& component : fs::absolute(path).parent_path()) {
    const FuzzTarget* const target = fuzz_target_named(component.string());
    if (target != nullptr) last = target;
  }
  return last;
}

std::vector<CorpusEntry> corpus_entries(const std::string& corpus) {
  std::vector<CorpusEntry> entries;
  for (const char* const part : parts) {
    const fs::path below = fs::path(corpus) / part;
    if (!fs::is_directory(below)) continue;
    std::vector<std::string> folders;
    for (const auto& folder : fs::directory_iterator(below)) {
      if (folder.is_directory()) folders.push_back(folder.path().filename().string());
    }
    std::sort(folders.begin(), folders.end());
    for (const std::string& folder : folders) {
      // What an interrupted run left.
      if (folder.starts_with('.')) continue;
      for (CorpusEntry& entry : corpus_entries(corpus, part, folder)) {
        entries.push_back(std::move(entry));
      }
    }
  }
  return entries;
}

std::vector<CorpusEntry> corpus_entries(const std::string& corpus, const std::string& part,
                                        const std::string& folder) {
  const fs::path below = fs::path(corpus) / part / folder;
  std::vector<fs::path> paths;
  if (!fs::is_directory(below)) return {};
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (entry.is_regular_file() && !hidden) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusEntry> entries;
  for (const fs::path& path : paths) entries.push_back(entry_of(part, folder, path));
  return entries;
}

std::string corpus_folder(const std::string& given, std::string* why) {
  std::error_code error;
  if (!given.empty() && !fs::is_directory(given, error)) {
    *why = fmt::format("--corpus: {}: no such folder", printable_path(given));
    return "";
  }
  const std::string folder = given.empty() ? find_corpus() : given;
  if (folder.empty()) *why = "there is no folder corpus here, name one with --corpus";
  return folder;
}

std::string hash8_of_bytes(std::string_view bytes) {
  const uint64_t hash = fnv1a64(bytes);
  return fmt::format("{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

std::vector<std::string> comments_of(const RegressionHeader& header) {
  std::vector<std::string> comments;
  for (const auto& [name, field] : header_fields) {
    if (!(header.*field).empty()) comments.push_back(fmt::format("{}: {}", name, header.*field));
  }
  return comments;
}

RegressionHeader header_of(std::string_view text) {
  RegressionHeader header;
  for (const std::string_view line : comment_lines(text)) {
    for (const auto& [name, field] : header_fields) {
      const bool named = line.starts_with(name) && line.substr(name.size()).starts_with(": ");
      if (named && (header.*field).empty()) header.*field = line.substr(name.size() + 2);
    }
  }
  return header;
}

std::string without_numbers(std::string_view detail) {
  std::string out;
  for (size_t at = 0; at < detail.size();) {
    const bool inside_word = at > 0 && is_word(detail[at - 1]);
    const size_t sign = detail[at] == '-' && !inside_word ? 1 : 0;
    const std::string_view rest = detail.substr(at + sign);
    const size_t length = inside_word ? 0 : number_length(rest);
    // A NaN or infinity of either sign is the same fault.
    const bool not_finite = sign == 1 && (rest.starts_with("nan") || rest.starts_with("inf"));
    if (length > 0) out += '#';
    if (length == 0 && !not_finite) out += detail.substr(at, 1);
    at += length > 0 ? sign + length : 1;
  }
  return out;
}

std::string comment_of(std::string_view text) {
  std::string all;
  for (const std::string_view line : comment_lines(text)) {
    if (!all.empty()) all += ' ';
    all += line;
  }
  return all;
}

Output output_of(const std::string& line) {
  Output output;
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.text.append(buffer, count);
  }
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

}  // namespace gdn
