// Writing results whole or not at all.
#include "ci/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace gdn {
namespace {

std::string beside(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

}  // namespace

std::string why_not_writable(const std::string& path) {
  const std::string part = beside(path);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return fmt::format("{}: cannot be written: {}", path, std::strerror(errno));
  std::fclose(file);
  std::remove(part.c_str());
  return "";
}

std::string write_whole(const std::string& path, const std::string& content) {
  const std::string part = beside(path);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return fmt::format("{}: cannot be written: {}", path, std::strerror(errno));
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(part.c_str(), path.c_str()) == 0) return "";
  const int error = written ? errno : write_error;
  std::remove(part.c_str());
  return fmt::format("{}: cannot be written: {}", path, std::strerror(error));
}

std::string replace_part(const std::string& path, const std::string& name,
                         const std::string& content) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fmt::format("{}: cannot be read: {}", path, std::strerror(errno));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string begin = fmt::format("<!-- {}: begin -->\n", name);
  const std::string end = fmt::format("<!-- {}: end -->", name);
  const size_t from = text.find(begin);
  const size_t to = from == std::string::npos ? from : text.find(end, from);
  if (to == std::string::npos) {
    return fmt::format("{}: the lines '{}' and '{}' were expected", path,
                       begin.substr(0, begin.size() - 1), end);
  }
  return write_whole(path, text.substr(0, from + begin.size()) + content + text.substr(to));
}

std::string shell_word(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace gdn
