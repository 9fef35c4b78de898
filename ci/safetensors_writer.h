// Writes safetensors: a u64 length, a JSON header of that many bytes, the tensors' bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gdn {

class SafetensorsWriter {
 public:
  void describe(const std::string& key, const std::string& text) { metadata_[key] = text; }
  void add(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& numbers);
  void add(const std::string& name, std::vector<int64_t> shape, const std::vector<double>& numbers);
  void add(const std::string& name, std::vector<int64_t> shape, const std::vector<uint8_t>& bytes);

  // The same content gives the same bytes. Wider types come first, so that each lies aligned.
  std::string content() const;

 private:
  struct Stored {
    const char* type;
    std::vector<int64_t> shape;
    std::string bytes;
  };
  void put(const std::string& name, const char* type, std::vector<int64_t> shape, const void* data,
           size_t bytes);

  std::map<std::string, std::string> metadata_;
  std::map<std::string, Stored> by_width_[3];  // of 8, 4 and 1 bytes, by name
};

}  // namespace gdn
