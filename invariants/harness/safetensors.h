// safetensors files, read by mapping: nothing is copied until a tensor is asked for, and a file
// that lies about itself is refused before any of its numbers are used.
// Layout: u64 length n, n bytes of JSON, then the tensors' bytes one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdn {

// The directory accepts every type of the format; these alone can be converted.
enum class StoredType : uint8_t { f32, bf16, f16, u8, other };

struct StoredTensor {
  std::string name;
  std::string type_name;  // as in the file: "F32"
  StoredType type = StoredType::other;
  std::vector<int64_t> shape;
  int64_t count = 0;               // product of shape
  std::span<const uint8_t> bytes;  // in the mapping; of any alignment
};

// Text of a file or an engine, made safe to print: one line, escapes for what is not printable
// ASCII, cut after `longest` characters: enough for every name in use, and short enough for a line.
std::string printable(std::string_view text, size_t longest = 80);
// A path is never cut: its end says which file it is.
std::string printable_path(std::string_view path);

class Safetensors {
 public:
  // A regular file. On failure nothing, and in `why` one line: file, what is wrong, what was
  // expected. The file must not shrink while it is open, as with every mapping.
  static std::optional<Safetensors> open(const std::string& path, std::string* why);
  // Bytes that outlive the result; `label` stands for the path in messages.
  static std::optional<Safetensors> parse(std::span<const uint8_t> file, const std::string& label,
                                          std::string* why);

  const std::string& path() const { return path_; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }  // by offset
  const StoredTensor* find(std::string_view name) const;                 // null: absent

 private:
  std::string path_;
  std::shared_ptr<const void> mapping_;  // unmaps with the last copy
  std::map<std::string, std::string, std::less<>> metadata_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

// Exact numbers of a tensor of type f32, bf16 or f16; others give an empty vector.
std::vector<float> to_floats(const StoredTensor& tensor);

}  // namespace gdn
