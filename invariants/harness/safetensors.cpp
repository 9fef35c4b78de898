// Every length, offset, type and shape of a safetensors file is checked against the bytes that are
// there. Memory grows with the bytes of the header, never with a number written in it.
#include "invariants/harness/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "invariants/harness/safetensors_header.h"
#include "reference/formats.h"

namespace gdn {
namespace {

constexpr uint64_t length_bytes = 8;
// The format's own limit on the header.
constexpr uint64_t header_bytes_max = 100'000'000;

struct KnownType {
  std::string_view name;
  uint64_t bits;
  StoredType type;
};
constexpr std::array known_types = {
    KnownType{"F32", 32, StoredType::f32},      KnownType{"BF16", 16, StoredType::bf16},
    KnownType{"F16", 16, StoredType::f16},      KnownType{"U8", 8, StoredType::u8},
    KnownType{"F64", 64, StoredType::other},    KnownType{"C64", 64, StoredType::other},
    KnownType{"I64", 64, StoredType::other},    KnownType{"U64", 64, StoredType::other},
    KnownType{"I32", 32, StoredType::other},    KnownType{"U32", 32, StoredType::other},
    KnownType{"I16", 16, StoredType::other},    KnownType{"U16", 16, StoredType::other},
    KnownType{"I8", 8, StoredType::other},      KnownType{"BOOL", 8, StoredType::other},
    KnownType{"F8_E4M3", 8, StoredType::other}, KnownType{"F8_E5M2", 8, StoredType::other},
    KnownType{"F8_E8M0", 8, StoredType::other}, KnownType{"F6_E2M3", 6, StoredType::other},
    KnownType{"F6_E3M2", 6, StoredType::other}, KnownType{"F4", 4, StoredType::other},
};

uint64_t little_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < length_bytes; ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return value;
}

// What is wrong with the header's length, or an empty string.
std::string why_bad_length(std::span<const uint8_t> file) {
  if (file.size() < length_bytes) {
    return fmt::format("has {} bytes, expected at least 8 for the length of its header",
                       file.size());
  }
  const uint64_t length = little_endian(file.data());
  const uint64_t most = std::min(header_bytes_max, uint64_t{file.size()} - length_bytes);
  if (length < 2 || length > most) {
    return fmt::format("claims a header of {} bytes, expected 2 to {}", length, most);
  }
  return {};
}

// Fills in one tensor, or says what is wrong with its entry.
std::string why_bad_entry(const HeaderEntry& entry, std::span<const uint8_t> data,
                          StoredTensor& out) {
  const auto* known = std::find_if(known_types.begin(), known_types.end(),
                                   [&](const KnownType& t) { return t.name == entry.type; });
  if (known == known_types.end()) {
    return fmt::format("has type '{}', expected one of the format's (F32, BF16, F16, U8, ...)",
                       printable(entry.type));
  }
  uint64_t count = 1;
  for (const uint64_t extent : entry.shape) {
    if (__builtin_mul_overflow(count, extent, &count)) count = UINT64_MAX;
    if (extent > INT64_MAX || count > INT64_MAX) {
      return "has a shape whose product overflows, expected below 2^63";
    }
    out.shape.push_back(static_cast<int64_t>(extent));
  }
  uint64_t bits = 0;
  if (__builtin_mul_overflow(count, known->bits, &bits) || bits % 8 != 0) {
    return fmt::format("has {} elements of {} bits, expected whole bytes below 2^61", count,
                       known->bits);
  }
  if (entry.begin > entry.end || entry.end > data.size()) {
    return fmt::format("lies at bytes {} to {}, expected a range within the {} bytes of data",
                       entry.begin, entry.end, data.size());
  }
  if (entry.end - entry.begin != bits / 8) {
    return fmt::format("has {} bytes of data, expected {} for {} elements of {}",
                       entry.end - entry.begin, bits / 8, count, entry.type);
  }
  out.name = entry.name;
  out.type_name = entry.type;
  out.type = known->type;
  out.count = static_cast<int64_t>(count);
  out.bytes = data.subspan(entry.begin, entry.end - entry.begin);
  return {};
}

// The format forbids holes: tensors in order of offset fill the data exactly.
std::string why_bad_cover(const std::vector<StoredTensor>& sorted, std::span<const uint8_t> data) {
  size_t filled = 0;
  for (const StoredTensor& tensor : sorted) {
    const auto begin = static_cast<size_t>(tensor.bytes.data() - data.data());
    if (begin != filled) {
      return fmt::format("tensor '{}' begins at byte {} of the data, expected {}: {}",
                         printable(tensor.name), begin, filled,
                         begin < filled ? "it overlaps another" : "there is a hole before it");
    }
    filled += tensor.bytes.size();
  }
  if (filled != data.size()) {
    return fmt::format("has {} bytes of data, expected {}, the end of its last tensor", data.size(),
                       filled);
  }
  return {};
}

}  // namespace

std::string printable(std::string_view text, size_t longest) {
  std::string out;
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > longest ? out + "..." : out;
}

std::string printable_path(std::string_view path) { return printable(path, path.size()); }

std::optional<Safetensors> Safetensors::parse(std::span<const uint8_t> file,
                                              const std::string& label, std::string* why) {
  const auto refuse = [&](const std::string& what) {
    *why = fmt::format("{}: {}", printable_path(label), what);
    return std::nullopt;
  };
  if (const std::string bad = why_bad_length(file); !bad.empty()) return refuse(bad);
  const uint64_t length = little_endian(file.data());
  const std::span<const uint8_t> data = file.subspan(length_bytes + length);

  Header header;
  if (const std::string bad = read_header(file.subspan(length_bytes, length), header);
      !bad.empty()) {
    return refuse(bad);
  }
  Safetensors out;
  out.path_ = label;
  out.metadata_ = std::move(header.metadata);
  for (const HeaderEntry& entry : header.entries) {
    StoredTensor tensor;
    if (const std::string bad = why_bad_entry(entry, data, tensor); !bad.empty()) {
      return refuse(fmt::format("tensor '{}' {}", printable(entry.name), bad));
    }
    out.tensors_.push_back(std::move(tensor));
  }
  // Empty tensors share their offset with the one that follows and come before it.
  std::sort(out.tensors_.begin(), out.tensors_.end(), [](const auto& one, const auto& two) {
    return std::pair(one.bytes.data(), one.bytes.size()) <
           std::pair(two.bytes.data(), two.bytes.size());
  });
  if (const std::string bad = why_bad_cover(out.tensors_, data); !bad.empty()) return refuse(bad);
  for (size_t i = 0; i < out.tensors_.size(); ++i) out.by_name_[out.tensors_[i].name] = i;
  return out;
}

std::optional<Safetensors> Safetensors::open(const std::string& path, std::string* why) {
  const auto refuse = [&](const std::string& what) {
    *why = fmt::format("{}: {}", printable_path(path), what);
    return std::nullopt;
  };
  // Without O_NONBLOCK the open of a pipe would wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return refuse(
        fmt::format("cannot be opened ({}), expected a safetensors file", std::strerror(errno)));
  }
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto bytes = regular ? static_cast<size_t>(status.st_size) : 0;
  // An empty file cannot be mapped; parse refuses its empty span.
  void* mapped = bytes > 0 ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
  ::close(descriptor);
  if (!regular) return refuse("is not a regular file, expected a safetensors file");
  if (mapped == MAP_FAILED) return refuse("cannot be mapped, expected a readable file");

  const auto unmap = [bytes](const void* address) {
    if (address != nullptr) munmap(const_cast<void*>(address), bytes);
  };
  std::shared_ptr<const void> mapping(mapped, unmap);
  auto out = parse({static_cast<const uint8_t*>(mapped), bytes}, path, why);
  if (out) out->mapping_ = std::move(mapping);
  return out;
}

const StoredTensor* Safetensors::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &tensors_[at->second];
}

std::vector<float> to_floats(const StoredTensor& tensor) {
  const auto count = static_cast<size_t>(tensor.count);
  if (tensor.type == StoredType::f32) {
    // The data may lie at any byte, so it is copied and never cast to float in place.
    std::vector<float> out(count);
    if (count > 0) std::memcpy(out.data(), tensor.bytes.data(), count * sizeof(float));
    return out;
  }
  std::vector<float> out;
  if (tensor.type != StoredType::bf16 && tensor.type != StoredType::f16) return out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto bits =
        static_cast<uint16_t>(tensor.bytes[2 * i] | uint16_t{tensor.bytes[2 * i + 1]} << 8);
    out.push_back(tensor.type == StoredType::bf16 ? bf16_decode(bits) : f16_decode(bits));
  }
  return out;
}

}  // namespace gdn
