// Typed access to a capture's metadata and tensors. The first thing that is not as expected is
// kept, later ones are ignored: a reader asks for all that it needs and then looks once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "invariants/harness/safetensors.h"

namespace gdn {

class CaptureFields {
 public:
  explicit CaptureFields(const Safetensors& file) : file_(file) {}

  bool failed() const { return !why_.empty(); }
  const std::string& why() const { return why_; }  // file, what is wrong, what was expected
  void fail(const std::string& what);              // "calls sum to 8, expected 9"

  // Metadata. A missing value fails unless it is asked for as optional.
  std::optional<std::string> optional_text(std::string_view key) const;
  std::string text(std::string_view key);
  nlohmann::json json(std::string_view key);  // an object or a list, shallow
  // One of `allowed` by index; `otherwise` where the key is absent.
  size_t choice(std::string_view key, std::initializer_list<std::string_view> allowed,
                size_t otherwise);
  float number(std::string_view key);
  int64_t integer(const nlohmann::json& object, const char* key);  // 1 to 2^20
  float positive(const nlohmann::json& object, const char* key);

  // Tensors of exactly this shape, and of type F32, BF16 or F16.
  const StoredTensor* tensor(const std::string& name, const std::vector<int64_t>& shape);
  std::vector<float> floats(const std::string& name, const std::vector<int64_t>& shape);
  bool has(std::string_view name) const { return file_.find(name) != nullptr; }
  const Safetensors& file() const { return file_; }

 private:
  const Safetensors& file_;
  std::string why_;
};

std::string text_of(const std::vector<int64_t>& shape);  // "[5, 48]"

}  // namespace gdn
