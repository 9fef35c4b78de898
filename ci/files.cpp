// Reading and writing files whole.
#include "ci/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ci/escaped.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

std::string beside(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

std::string unwritable(const std::string& path, int error) {
  return fmt::format("{}: cannot be written: {}", path, std::strerror(error));
}

// A pipe or a device, /dev/null among them: a renamed file would take its place in the folder.
bool is_stream(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Where a link leads: the rename must replace the file and not the link to it.
std::string without_links(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

std::string write_stream(const std::string& path, const std::string& content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return unwritable(path, errno);
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed ? "" : unwritable(path, errno);
}

// One that is not there is known by its name alone.
bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;
  const fs::path real = fs::weakly_canonical(one, error);
  return !error && real == fs::weakly_canonical(other, error) && !error;
}

bool is_read_in(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || (real.extension() != ".case" && real.extension() != ".jsonl")) return false;
  const fs::path relative = real.lexically_relative(fs::canonical(folder, error));
  return !error && !relative.empty() && *relative.begin() != "..";
}

// A document around one of its parts; or why there is no such part.
struct Part {
  std::string before, after;
  std::string why;
};

Part find_part(const std::string& path, const std::string& name) {
  std::string why;
  const std::optional<std::string> bytes = read_bytes(path, &why);
  if (!bytes) return {"", "", why};
  const std::string& text = *bytes;
  const std::string begin = fmt::format("<!-- {}: begin -->\n", name);
  const std::string end = fmt::format("<!-- {}: end -->", name);
  const size_t from = text.find(begin);
  const size_t to = from == std::string::npos ? from : text.find(end, from);
  if (to == std::string::npos) {
    return {"", "",
            fmt::format("{}: the lines '{}' and '{}' were expected", path,
                        begin.substr(0, begin.size() - 1), end)};
  }
  return {text.substr(0, from + begin.size()), text.substr(to), ""};
}

}  // namespace

std::optional<std::string> read_bytes(const std::string& path, std::string* why) {
  std::ifstream in(path, std::ios::binary);
  const int open_error = errno;
  std::error_code error;
  if (!in || fs::is_directory(path, error)) {
    *why = fmt::format("{}: cannot be read: {}", visible(path),
                       std::strerror(in ? EISDIR : open_error));
    return std::nullopt;
  }
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::string why_not_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return unwritable(path, EISDIR);
  if (is_stream(path)) return access(path.c_str(), W_OK) == 0 ? "" : unwritable(path, errno);
  const std::string part = beside(without_links(path));
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return unwritable(path, errno);
  std::fclose(file);
  std::remove(part.c_str());
  return "";
}

std::string write_whole(const std::string& path, const std::string& content) {
  if (is_stream(path)) return write_stream(path, content);
  const std::string real = without_links(path);
  const std::string part = beside(real);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return unwritable(path, errno);
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(part.c_str(), real.c_str()) == 0) return "";
  const int error = written ? errno : write_error;
  std::remove(part.c_str());
  return unwritable(path, error);
}

std::string why_results_not_writable(const std::vector<std::string>& paths,
                                     const std::string& document, const std::string& part) {
  for (const std::string& path : paths) {
    const std::string why = path.empty() ? "" : why_not_writable(path);
    if (!why.empty()) return why;
  }
  if (document.empty()) return "";
  const std::string why = find_part(document, part).why;
  return why.empty() ? why_not_writable(document) : why;
}

std::string why_results_in_the_way(const std::vector<std::string>& results,
                                   const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& result = results[i];
    if (result.empty() || is_stream(result)) continue;
    for (const std::string& input : inputs) {
      std::error_code error;
      const bool is_folder = fs::is_directory(input, error);
      if (is_folder ? is_read_in(input, result) : is_same_file(input, result)) {
        return fmt::format("{}: it is read, expected another file for what is written", result);
      }
    }
    for (size_t k = 0; k < i; ++k) {
      if (!results[k].empty() && is_same_file(results[k], result)) {
        return fmt::format("{}: expected another file for each of the results", result);
      }
    }
  }
  return "";
}

std::string replace_part(const std::string& path, const std::string& name,
                         const std::string& content) {
  const Part part = find_part(path, name);
  if (!part.why.empty()) return part.why;
  return write_whole(path, part.before + content + part.after);
}

std::string shell_word(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
  if (has_control) {
    // The one form of a word that has no such character in it.
    std::string word = "$'";
    for (const char c : text) {
      const bool is_plain = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
      word +=
          is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return word + "'";
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace gdn
