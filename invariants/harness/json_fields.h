// Strict reading of one JSON object: every key must be known, every value of its kind. The first
// thing that is wrong is kept; later ones are not reported.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gdn {

class JsonFields {
 public:
  // `path` names the object in messages, "contract.conv"; *why stays empty while all is well.
  JsonFields(const nlohmann::json& object, std::string path, std::string* why);

  void text(const char* key, std::string& value);
  void boolean(const char* key, bool& value);
  void number(const char* key, double low, double high, double& value);
  // The value if it is there; it counts as known.
  const nlohmann::json* take(const char* key);
  // A list of texts, each one of `allowed`.
  void names(const char* key, const std::set<std::string_view>& allowed,
             std::set<std::string, std::less<>>& value);

  template <class Enum, size_t count>
  void choice(const char* key, const std::array<std::string_view, count>& values, Enum& value) {
    const size_t chosen = index_of(key, values.data(), count);
    if (chosen < count) value = static_cast<Enum>(chosen);
  }

  // Complains of every key that nobody asked for.
  void finish();
  void fail(const std::string& key, std::string_view expected);
  std::string path_of(const std::string& key) const;

 private:
  size_t index_of(const char* key, const std::string_view* values, size_t count);

  const nlohmann::json& object_;
  std::string path_;
  std::string* why_;
  std::set<std::string> known_;
};

// A value as it stands in a message, cut where it is long.
std::string shown(const nlohmann::json& value);

}  // namespace gdn
