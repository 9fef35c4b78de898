// Each message names the file, the metadata key or tensor, what is there and what was expected.
#include "invariants/harness/capture_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gdn {
namespace {

// The metadata that is JSON nests twice; a parser's tree of more is not worth its memory.
constexpr std::ptrdiff_t brackets_max = 16;
// Far above every model, and products of three stay below 2^63.
constexpr uint64_t extent_max = uint64_t{1} << 20;

}  // namespace

std::string text_of(const std::vector<int64_t>& shape) {
  return printable(fmt::format("[{}]", fmt::join(shape, ", ")));
}

void CaptureFields::fail(const std::string& what) {
  if (!failed()) why_ = fmt::format("{}: {}", printable_path(file_.path()), what);
}

std::optional<std::string> CaptureFields::optional_text(std::string_view key) const {
  const auto at = file_.metadata().find(key);
  if (at == file_.metadata().end()) return std::nullopt;
  return at->second;
}

std::string CaptureFields::text(std::string_view key) {
  auto found = optional_text(key);
  if (!found) fail(fmt::format("metadata has no '{}', expected by its format", key));
  return found.value_or("");
}

nlohmann::json CaptureFields::json(std::string_view key) {
  const std::string source = text(key);
  if (failed()) return {};
  const auto brackets =
      std::count(source.begin(), source.end(), '[') + std::count(source.begin(), source.end(), '{');
  auto parsed = brackets <= brackets_max ? nlohmann::json::parse(source, nullptr, false)
                                         : nlohmann::json(nlohmann::json::value_t::discarded);
  if (parsed.is_structured()) return parsed;
  fail(
      fmt::format("metadata '{}' is '{}', expected a JSON object or list", key, printable(source)));
  return {};
}

size_t CaptureFields::choice(std::string_view key, std::initializer_list<std::string_view> allowed,
                             size_t otherwise) {
  const auto found = optional_text(key);
  if (!found) return otherwise;
  const auto at = std::find(allowed.begin(), allowed.end(), *found);
  if (at != allowed.end()) return static_cast<size_t>(at - allowed.begin());
  fail(fmt::format("metadata '{}' is '{}', expected {}", key, printable(*found),
                   fmt::join(allowed, " or ")));
  return otherwise;
}

float CaptureFields::number(std::string_view key) {
  const std::string source = text(key);
  float value = 0;
  const char* end = source.data() + source.size();
  const auto [stop, error] = std::from_chars(source.data(), end, value);
  if (!failed() && (error != std::errc{} || stop != end || !std::isfinite(value))) {
    fail(fmt::format("metadata '{}' is '{}', expected a number", key, printable(source)));
  }
  return value;
}

int64_t CaptureFields::integer(const nlohmann::json& object, const char* key) {
  if (failed()) return 1;
  const auto at = object.find(key);
  const bool present = object.is_object() && at != object.end();
  if (present && at->is_number_unsigned()) {
    const auto value = at->get<uint64_t>();
    if (value >= 1 && value <= extent_max) {
      return static_cast<int64_t>(value);
    }
  }
  fail(fmt::format("'{}' is {}, expected an integer from 1 to 2^20", key,
                   present ? printable(at->dump()) : "absent"));
  return 1;
}

float CaptureFields::positive(const nlohmann::json& object, const char* key) {
  if (failed()) return 1;
  const auto at = object.find(key);
  const bool present = object.is_object() && at != object.end();
  const float value = present && at->is_number() ? at->get<float>() : 0;
  if (value > 0 && std::isfinite(value)) return value;
  fail(fmt::format("'{}' is {}, expected a positive number", key,
                   present ? printable(at->dump()) : "absent"));
  return 1;
}

const StoredTensor* CaptureFields::tensor(const std::string& name,
                                          const std::vector<int64_t>& shape) {
  if (failed()) return nullptr;
  const StoredTensor* found = file_.find(name);
  if (found == nullptr) {
    fail(fmt::format("has no tensor '{}', expected {}", name, text_of(shape)));
  } else if (found->shape != shape) {
    fail(
        fmt::format("tensor '{}' is {}, expected {}", name, text_of(found->shape), text_of(shape)));
    found = nullptr;
  }
  return found;
}

std::vector<float> CaptureFields::floats(const std::string& name,
                                         const std::vector<int64_t>& shape) {
  const StoredTensor* found = tensor(name, shape);
  if (found == nullptr) return {};
  if (found->type == StoredType::u8 || found->type == StoredType::other) {
    fail(fmt::format("tensor '{}' is of type {}, expected F32, BF16 or F16", name,
                     found->type_name));
    return {};
  }
  return to_floats(*found);
}

}  // namespace gdn
