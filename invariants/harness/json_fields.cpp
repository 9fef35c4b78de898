// Strict reading of JSON objects.
#include "invariants/harness/json_fields.h"

#include <cmath>

namespace gdn {

std::string shown(const nlohmann::json& value) {
  using Handler = nlohmann::json::error_handler_t;
  const std::string text = value.dump(-1, ' ', true, Handler::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

JsonFields::JsonFields(const nlohmann::json& object, std::string path, std::string* why)
    : object_(object), path_(std::move(path)), why_(why) {
  if (!object_.is_object() && why_->empty()) {
    *why_ = path_ + ": expected an object, got " + shown(object_);
  }
}

std::string JsonFields::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonFields::fail(const std::string& key, std::string_view expected) {
  if (!why_->empty()) return;
  *why_ = path_of(key) + ": expected " + std::string(expected);
  if (object_.is_object() && object_.contains(key)) *why_ += ", got " + shown(object_.at(key));
}

const nlohmann::json* JsonFields::take(const char* key) {
  known_.insert(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonFields::text(const char* key, std::string& value) {
  const nlohmann::json* found = take(key);
  if (!found) return;
  if (!found->is_string()) return fail(key, "text");
  value = found->get<std::string>();
}

void JsonFields::boolean(const char* key, bool& value) {
  const nlohmann::json* found = take(key);
  if (!found) return;
  if (!found->is_boolean()) return fail(key, "true or false");
  value = found->get<bool>();
}

void JsonFields::number(const char* key, double low, double high, double& value) {
  const nlohmann::json* found = take(key);
  if (!found) return;
  const double given = found->is_number() ? found->get<double>() : std::nan("");
  if (given >= low && given <= high) {
    value = given;
    return;
  }
  fail(key, "a number from " + shown(low) + " to " + shown(high));
}

void JsonFields::names(const char* key, const std::set<std::string_view>& allowed,
                       std::set<std::string, std::less<>>& value) {
  const nlohmann::json* found = take(key);
  if (!found) return;
  if (!found->is_array()) return fail(key, "a list of names");
  for (const nlohmann::json& item : *found) {
    const std::string name = item.is_string() ? item.get<std::string>() : std::string();
    if (!allowed.contains(name)) return fail(key, "known names only; " + shown(item) + " is not");
    if (!value.insert(name).second) return fail(key, "each name once; " + name + " comes twice");
  }
}

size_t JsonFields::index_of(const char* key, const std::string_view* values, size_t count) {
  const nlohmann::json* found = take(key);
  if (!found) return count;
  std::string expected = "one of";
  for (size_t i = 0; i < count; ++i) {
    if (found->is_string() && found->get_ref<const std::string&>() == values[i]) return i;
    expected += (i > 0 ? ", " : " ") + std::string(values[i]);
  }
  fail(key, expected);
  return count;
}

void JsonFields::finish() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    std::string expected = "one of";
    for (const std::string& name : known_) expected += " " + name;
    if (why_->empty()) *why_ = path_of(shown(key)) + ": unknown key, expected " + expected;
    return;
  }
}

}  // namespace gdn
