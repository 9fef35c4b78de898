// What hostile calls are made of: sizes that are wrong now and then, arrays that end at a guard
// page, and a gate that an engine's memory passes or not.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <list>
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/guard_page.h"
#include "invariants/harness/engine.h"

namespace gdn {

struct MemoryLedger {
  uint64_t held_bytes = 0;
  int grants_before_refusal = -1;  // negative: none is refused that fits
};

// No more memory than a small engine needs, whatever the shape says.
inline int small_engines_only(void* context, uint64_t bytes, int release) {
  constexpr uint64_t bytes_max = uint64_t{64} << 20;
  auto& ledger = *static_cast<MemoryLedger*>(context);
  if (release != 0) {
    ledger.held_bytes -= bytes;
    return 0;
  }
  if (bytes > bytes_max || ledger.held_bytes + bytes > bytes_max) return 1;
  if (ledger.grants_before_refusal >= 0 && ledger.grants_before_refusal-- == 0) return 1;
  ledger.held_bytes += bytes;
  return 0;
}

class HostileArguments {
 protected:
  explicit HostileArguments(ByteSource& source) : in_(source) {}

  static constexpr int64_t count_max = 1 << 16;

  // Any power of two now and then: products of these leave 64 bits.
  int64_t dimension(int64_t right) {
    return in_.rarely(12) ? int64_t{1} << in_.byte() % 63 : in_.count(right);
  }
  float number() {
    constexpr float telling[] = {0, -1, NAN, INFINITY, 1e30F};
    return in_.rarely(16) ? telling[in_.byte() % std::size(telling)] : 1e-6F;
  }

  // Of exactly so many elements; null now and then, and where they are too many to have.
  template <class T>
  T* array(int64_t count) {
    if (in_.rarely(24) || count > count_max) return nullptr;
    const int64_t real = count < 0 ? 0 : count;
    GuardedBytes& bytes = arrays_.emplace_back(static_cast<size_t>(real) * sizeof(T));
    const uint8_t pattern = in_.byte();
    for (size_t i = 0; i < bytes.bytes().size(); ++i) {
      bytes.data()[i] = static_cast<uint8_t>(pattern * (i % 7));
    }
    return reinterpret_cast<T*>(bytes.data());
  }
  // A count that an array of ours really has.
  int64_t room(int64_t right) {
    const int64_t count = in_.count(right);
    return count > count_max ? right : count;
  }
  struct Named {
    const char* name;
    int64_t count;
  };

  // The arrays that an operator takes, few of them wrong.
  std::vector<gdn_array> arrays_of(std::initializer_list<Named> right) {
    std::vector<gdn_array> list;
    for (const Named& array : right) {
      if (in_.rarely(24)) continue;
      const int64_t elements = room(array.count);
      const char* const name = in_.rarely(48) ? (in_.byte() % 2 == 0 ? nullptr : "") : array.name;
      const auto format = static_cast<gdn_format>(in_.rarely(24) ? in_.byte() % 8 : GDN_F32);
      list.push_back({name, format, this->array<float>(elements), elements});
      if (in_.rarely(32)) list.push_back(list.back());
    }
    return list;
  }

  // After the call that they were made for.
  void release_arrays() { arrays_.clear(); }

  ByteSource& in_;

 private:
  std::list<GuardedBytes> arrays_;
};

}  // namespace gdn
