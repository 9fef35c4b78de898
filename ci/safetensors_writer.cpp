// The bytes of a safetensors file, in an order of its own.
#include "ci/safetensors_writer.h"

#include <nlohmann/json.hpp>

namespace gdn {

void SafetensorsWriter::put(const std::string& name, const char* type, std::vector<int64_t> shape,
                            const void* data, size_t bytes) {
  const size_t width = type[1] == '6' ? 0 : (type[1] == '3' ? 1 : 2);
  const auto* from = static_cast<const char*>(data);
  by_width_[width][name] = {type, std::move(shape), std::string(from, from + bytes)};
}

void SafetensorsWriter::add(const std::string& name, std::vector<int64_t> shape,
                            const std::vector<float>& numbers) {
  put(name, "F32", std::move(shape), numbers.data(), numbers.size() * sizeof(float));
}

void SafetensorsWriter::add(const std::string& name, std::vector<int64_t> shape,
                            const std::vector<double>& numbers) {
  put(name, "F64", std::move(shape), numbers.data(), numbers.size() * sizeof(double));
}

void SafetensorsWriter::add(const std::string& name, std::vector<int64_t> shape,
                            const std::vector<uint8_t>& bytes) {
  put(name, "U8", std::move(shape), bytes.data(), bytes.size());
}

std::string SafetensorsWriter::content() const {
  nlohmann::ordered_json header = {{"__metadata__", metadata_}};
  std::string data;
  for (const auto& stored : by_width_) {
    for (const auto& [name, tensor] : stored) {
      const size_t begin = data.size();
      data += tensor.bytes;
      header[name] = {
          {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file;
  for (int byte = 0; byte < 8; ++byte) file += static_cast<char>(text.size() >> (8 * byte));
  return file + text + data;
}

}  // namespace gdn
