// What hostile calls are made of: sizes that are wrong now and then, arrays that end at a guard
// page, and a gate that an engine's memory passes or not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <list>
#include <span>
#include <vector>

#include "fuzz/byte_source.h"
#include "fuzz/demand.h"
#include "fuzz/guard_page.h"
#include "invariants/harness/engine.h"

namespace gdn {

struct MemoryLedger {
  uint64_t held_bytes = 0;
  int grants_before_refusal = -1;  // negative: none is refused that fits
};

// No more memory than a small engine needs, whatever the shape says: filling it is what takes time.
inline int small_engines_only(void* context, uint64_t bytes, int release) {
  constexpr uint64_t bytes_max = uint64_t{1} << 19;
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

// A gate is asked where there is one.
inline void open_without_gate(const gdn_api& api) {
  const gdn_shape shape = {4, 1, 2, 2, 4, 2, 1, 1e-6F, 1e-6F};
  gdn_options options = {};
  options.struct_size = sizeof options;
  gdn_engine* engine = nullptr;
  demand(api.open(&shape, &options, &engine) == GDN_OK, "a small engine is refused");
  api.close(engine);
}

class HostileArguments {
 protected:
  explicit HostileArguments(ByteSource& source) : in_(source) {}

  static constexpr int64_t count_max = 1 << 12;

  // Any power of two now and then: products of these leave 64 bits.
  int64_t dimension(int64_t right) {
    return in_.rarely(12) ? int64_t{1} << in_.byte() % 63 : in_.count(right);
  }
  float number() {
    constexpr float telling[] = {0, -1, NAN, INFINITY, 1e30F};
    return in_.rarely(8) ? telling[in_.byte() % std::size(telling)] : 1e-6F;
  }

  // Ones, but for two dimensions whose products leave 64 bits, each at another place.
  void make_extreme(gdn_shape& shape) {
    static constexpr int64_t gdn_shape::*dimensions[] = {
        &gdn_shape::hidden_size, &gdn_shape::num_k_heads, &gdn_shape::head_k_dim,
        &gdn_shape::num_v_heads, &gdn_shape::head_v_dim,  &gdn_shape::conv_kernel,
        &gdn_shape::num_layers};
    for (const auto member : dimensions) shape.*member = 1;
    for (int i = 0; i < 2; ++i) {
      shape.*dimensions[in_.byte() % std::size(dimensions)] = extreme();
    }
    // One head count divides the other, or nothing else is looked at.
    shape.num_v_heads = std::max(shape.num_v_heads, shape.num_k_heads);
  }
  int64_t extreme() { return int64_t{1} << (48 + in_.byte() % 15); }

  // Every element of a view is its first: any extents lie within the buffer. Those that fit into
  // 64 bits are more than the gate grants.
  void stand_still(gdn_recurrent_args& a) {
    for (gdn_view* v : {&a.q, &a.k, &a.v, &a.g, &a.gk, &a.beta, &a.o, &a.state}) {
      std::fill(std::begin(v->stride), std::end(v->stride), 0);
    }
    a.num_tokens = in_.byte() % 4;
    int64_t* const extents[] = {&a.head_k_dim, &a.num_v_heads, &a.head_v_dim};
    for (int i = 0; i < 2; ++i) {
      *extents[in_.byte() % std::size(extents)] = int64_t{1} << (27 + in_.byte() % 36);
    }
    if (in_.byte() % 2 == 0) a.num_k_heads = a.num_v_heads;
  }

  // Of exactly so many elements; null now and then, and where they are too many to have.
  template <class T>
  T* array(int64_t count) {
    if (in_.rarely(24) || count > count_max) return nullptr;
    const int64_t real = count < 0 ? 0 : count;
    GuardedBytes& bytes = arrays_.emplace_back(static_cast<size_t>(real) * sizeof(T));
    fill({bytes.data(), bytes.bytes().size()}, in_.byte());
    handed_over_.emplace_back(bytes.bytes().begin(), bytes.bytes().end());
    return reinterpret_cast<T*>(bytes.data());
  }
  // A short pattern, doubled: byte for byte, the instrumented loop would be most of what a run
  // takes.
  static void fill(std::span<uint8_t> bytes, uint8_t pattern) {
    constexpr size_t period = 28;
    const size_t first = std::min(period, bytes.size());
    for (size_t i = 0; i < first; ++i) bytes[i] = static_cast<uint8_t>(pattern * (i % 7));
    for (size_t done = first; done < bytes.size(); done *= 2) {
      std::memcpy(&bytes[done], bytes.data(), std::min(done, bytes.size() - done));
    }
  }
  // Whether the arrays are as they were when they were made, or taken as they are.
  bool are_untouched() const {
    return std::equal(arrays_.begin(), arrays_.end(), handed_over_.begin(),
                      [](const GuardedBytes& now, const std::vector<uint8_t>& then) {
                        return std::equal(now.bytes().begin(), now.bytes().end(), then.begin());
                      });
  }
  void take_as_they_are() {
    handed_over_.clear();
    for (const GuardedBytes& array : arrays_) {
      handed_over_.emplace_back(array.bytes().begin(), array.bytes().end());
    }
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
  void release_arrays() {
    arrays_.clear();
    handed_over_.clear();
  }

  ByteSource& in_;

 private:
  std::list<GuardedBytes> arrays_;
  std::vector<std::vector<uint8_t>> handed_over_;
};

}  // namespace gdn
