// The simulator's half of platform.h, which includes it: the primitives as calls of the simulator.
// An element is a small object that asks the simulator before it reads or writes; where the machine
// makes no checks, that is one test of a flag.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "device/simt/machine.h"
#include "device/simt/numbers_simt.h"
#include "device/simt/running.h"
#include "device/simt/site.h"

namespace gdn::inline on_simt {

using simt::here;
using simt::Site;

GDN_SIMT_INLINE void checked(const void* at, unsigned bytes, simt::Access access, simt::Space space,
                             Site site) {
  if (simt::running.checks) simt::check_access(at, bytes, access, space, site);
}

template <class E>
concept AnElement = requires {
  typename std::remove_cvref_t<E>::is_element;
};

// An index, and where it stands in the source; it may be an element itself: p[q[i]].
struct Index {
  template <std::integral I>
  GDN_SIMT_INLINE constexpr Index(I index, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE())
      : value(static_cast<int64_t>(index)), site{file, line} {}
  template <AnElement E>
  GDN_SIMT_INLINE Index(E&& element, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE())
      : value(static_cast<E&&>(element)), site{file, line} {}
  int64_t value;
  Site site;
};

// Where element n lies, by numbers: a wrong index must not be undefined before it is found wrong.
template <class T>
GDN_SIMT_INLINE T* element_address(T* base, int64_t n) {
  const auto offset = static_cast<uintptr_t>(n) * sizeof(T);
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(base) + offset);
}

// What p[i] gives. Only good within its expression: `auto x = p[i]` cannot be used later, as it
// would read then.
template <class T, simt::Space space>
class Element {
 public:
  using Value = std::remove_const_t<T>;
  using is_element = void;
  GDN_SIMT_INLINE Element(T* at, Site site) : at_(at), site_(site) {}

  GDN_SIMT_INLINE operator Value() && {
    checked(at_, sizeof(T), simt::Access::read, space, site_);
    return *at_;
  }
  GDN_SIMT_INLINE void operator=(Value value) && {
    checked(at_, sizeof(T), simt::Access::write, space, site_);
    *at_ = value;
  }
  GDN_SIMT_INLINE void operator=(Element&& other) && {
    static_cast<Element&&>(*this) = static_cast<Value>(static_cast<Element&&>(other));
  }
  GDN_SIMT_INLINE void operator+=(Value value) && { put(get() + value); }
  GDN_SIMT_INLINE void operator-=(Value value) && { put(get() - value); }
  GDN_SIMT_INLINE void operator*=(Value value) && { put(get() * value); }

 private:
  GDN_SIMT_INLINE Value get() { return static_cast<Element&&>(*this); }
  GDN_SIMT_INLINE void put(Value value) { static_cast<Element&&>(*this) = value; }
  T* at_;
  Site site_;
};

template <class T, simt::Space where>
struct Pointer {
  static constexpr simt::Space space = where;
  T* address;
  GDN_SIMT_INLINE Element<T, where> operator[](Index i) const {
    return {element_address(address, i.value), i.site};
  }
  template <class I>
  GDN_SIMT_INLINE Pointer operator+(I n) const {
    return {element_address(address, static_cast<int64_t>(n))};
  }
  template <std::same_as<const T> U>
  GDN_SIMT_INLINE operator Pointer<U, where>() const {
    return {address};
  }
  GDN_SIMT_INLINE bool present() const { return address != nullptr; }
};

template <class T>
using global = Pointer<T, simt::Space::global>;
template <class T>
using shared = Pointer<T, simt::Space::shared>;

template <class U, class T, simt::Space space>
GDN_SIMT_INLINE Pointer<U, space> as(Pointer<T, space> p) {
  return {reinterpret_cast<U*>(p.address)};
}

// One address a declaration and template instance; all threads of a block get the same memory.
#define GDN_SHARED(type, name, count)                                                          \
  static constexpr char name##_declaration = 0;                                                \
  const ::gdn::shared<type> name {                                                             \
    static_cast<type*>(                                                                        \
        ::gdn::simt::shared_array(&name##_declaration, sizeof(type) * (count), ::gdn::here())) \
  }

template <class T>
shared<T> dynamic_shared(int64_t offset_bytes = 0, Site = {}) {
  auto* const bytes = static_cast<unsigned char*>(simt::dynamic_shared_bytes());
  return {reinterpret_cast<T*>(bytes + offset_bytes)};
}

GDN_SIMT_INLINE int thread_index() { return simt::running.thread; }
GDN_SIMT_INLINE int thread_count() { return simt::running.threads; }
GDN_SIMT_INLINE int block_index() { return simt::running.block; }
GDN_SIMT_INLINE int block_index_y() { return simt::running.block_y; }
GDN_SIMT_INLINE int block_count() { return simt::running.blocks; }
GDN_SIMT_INLINE int block_count_y() { return simt::running.blocks_y; }

GDN_SIMT_INLINE uint64_t warp_call(simt::WarpCall call, uint32_t mask, uint64_t value, int argument,
                                   Site site) {
  simt::take(simt::arrive_at_warp_call(call, mask, value, argument, site));
  return simt::go_on_from_warp_call();
}

GDN_SIMT_INLINE void barrier(Site site = here()) {
  simt::take(simt::arrive_at_barrier(site));
  simt::go_on_from_barrier();
}
GDN_SIMT_INLINE void syncwarp(uint32_t mask = full_mask, Site site = here()) {
  warp_call(simt::WarpCall::sync, mask, 0, 0, site);
}

template <class T>
GDN_SIMT_INLINE T exchanged(simt::WarpCall call, uint32_t mask, T value, int argument, Site site) {
  static_assert(std::is_arithmetic_v<T>, "shuffle a number: read an element into one first");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_call(call, mask, bits, argument, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
GDN_SIMT_INLINE T shuffle(uint32_t mask, T value, int source, Site site = here()) {
  return exchanged(simt::WarpCall::shuffle, mask, value, source, site);
}
template <class T>
GDN_SIMT_INLINE T shuffle_xor(uint32_t mask, T value, int lane_bits, Site site = here()) {
  return exchanged(simt::WarpCall::shuffle_xor, mask, value, lane_bits, site);
}
template <class T>
GDN_SIMT_INLINE T shuffle_down(uint32_t mask, T value, int distance, Site site = here()) {
  return exchanged(simt::WarpCall::shuffle_down, mask, value, distance, site);
}
template <class T>
GDN_SIMT_INLINE T shuffle_up(uint32_t mask, T value, int distance, Site site = here()) {
  return exchanged(simt::WarpCall::shuffle_up, mask, value, distance, site);
}
GDN_SIMT_INLINE float warp_tree_sum(float value, Site site = here()) {
  return exchanged(simt::WarpCall::tree_sum, full_mask, value, 0, site);
}
GDN_SIMT_INLINE uint32_t ballot(uint32_t mask, bool predicate, Site site = here()) {
  const uint64_t vote = predicate ? 1 : 0;
  return static_cast<uint32_t>(warp_call(simt::WarpCall::ballot, mask, vote, 0, site));
}

// The block's threads take each step one after the other where the kernel runs by steps; else this
// is one thread's part of it.
template <class Kept>
class Steps {
 public:
  GDN_SIMT_INLINE Steps() : by_steps_(simt::running.by_steps) {
    if (!by_steps_) return;
    const auto threads = static_cast<size_t>(simt::running.threads);
    all_ = static_cast<Kept*>(simt::room_of_steps(threads * sizeof(Kept)));
    std::fill_n(all_, threads, Kept{});
  }
  template <class Step>
  GDN_SIMT_INLINE void operator()(const Step& step) {
    if (!by_steps_) return step(mine_);
    const int threads = simt::running.threads;
    const unsigned* const order = simt::order_of_step();
    for (int i = 0; i < threads; ++i) {
      const int thread = order == nullptr ? i : static_cast<int>(order[i]);
      simt::running.thread = thread;
      step(all_[thread]);
    }
    simt::running.thread = simt::no_thread;
  }
  GDN_SIMT_INLINE void barrier(Site site = here()) {
    if (!by_steps_) return on_simt::barrier(site);
    simt::open_barrier_of_steps(site);
  }
  GDN_SIMT_INLINE void warp_tree_sum(Site site = here()) {
    if (by_steps_) return simt::tree_sums_of_steps(all_, site);
    mine_ = on_simt::warp_tree_sum(mine_, site);
  }

 private:
  const bool by_steps_;
  Kept mine_ = {};
  Kept* all_ = nullptr;
};

template <int N, class T>
GDN_SIMT_INLINE auto values_at(const T* at) {
  Pack<T, N> values;
  std::memcpy(&values, at, sizeof values);
  return values;
}
template <int N, class T, simt::Space space>
GDN_SIMT_INLINE auto load(const Pointer<T, space>& p, int64_t i, Site site = here()) {
  T* const at = element_address(p.address, i);
  checked(at, N * sizeof(T), simt::Access::read, space, site);
  return values_at<N>(at);
}
template <int N, class T>
GDN_SIMT_INLINE auto load_streaming(global<T> p, int64_t i, Site site = here()) {
  return load<N>(p, i, site);
}
template <int N, class T>
GDN_SIMT_INLINE auto load_coherent(global<T> p, int64_t i, Site site = here()) {
  T* const at = element_address(p.address, i);
  if (simt::running.checks) simt::check_coherent_read(at, N * sizeof(T), site);
  return values_at<N>(at);
}
template <int N, class T, simt::Space space>
GDN_SIMT_INLINE void store(const Pointer<T, space>& p, int64_t i, const Pack<T, N>& values,
                           Site site = here()) {
  T* const at = element_address(p.address, i);
  checked(at, sizeof values, simt::Access::write, space, site);
  std::memcpy(at, &values, sizeof values);
}

template <int N, class T>
GDN_SIMT_INLINE void store_streaming(global<T> p, int64_t i, const Pack<T, N>& values,
                                     Site site = here()) {
  store(p, i, values, site);
}

// A copy is carried out when the thread that asked for it waits for it; until then its destination
// counts as never written.
template <int N, class T>
GDN_SIMT_INLINE void copy_async(const shared<T>& to, int64_t to_index, const global<const T>& from,
                                int64_t from_index, Site site = here()) {
  static_assert(sizeof(T) * N == 8 || sizeof(T) * N == 16);
  T* const at = element_address(to.address, to_index);
  const T* const source = element_address(from.address, from_index);
  if (simt::running.checks) {
    simt::copy_async(at, source, sizeof(T) * N, site);
  } else {
    std::memcpy(at, source, sizeof(T) * N);
  }
}
GDN_SIMT_INLINE void close_copies() {
  if (simt::running.checks) simt::close_copies();
}
template <int sets>
GDN_SIMT_INLINE void wait_for_copies(Site site = here()) {
  if (simt::running.checks) simt::wait_for_copies(sets, site);
}

GDN_SIMT_INLINE void wait_for_launches_before() {
  if (simt::running.checks) simt::wait_for_launches_before();
}

template <class T, simt::Space space>
T atomic_add(const Pointer<T, space>& p, int64_t i, std::type_identity_t<T> value,
             Site site = here()) {
  T* const at = element_address(p.address, i);
  checked(at, sizeof(T), simt::Access::atomic, space, site);
  const T old = *at;
  *at = old + value;
  return old;
}

inline Pack<int32_t, 4> matrix_product_s8(const Pack<uint32_t, 4>& left,
                                          const Pack<uint32_t, 2>& right, Site site = here()) {
  simt::MatrixLane mine;
  std::memcpy(mine.left, &left, sizeof mine.left);
  std::memcpy(mine.right, &right, sizeof mine.right);
  warp_call(simt::WarpCall::matrix_product, full_mask, reinterpret_cast<uintptr_t>(&mine), 0, site);
  Pack<int32_t, 4> sums;
  std::memcpy(&sums, mine.sums, sizeof sums);
  return sums;
}

// "block_sum", from the compiler's own spelling of this function: "... kernel = gdn::block_sum<4>".
template <auto kernel>
constexpr std::string_view kernel_name() {
  const std::string_view all = __PRETTY_FUNCTION__;
  const std::string_view rest = all.substr(all.find("kernel = "));
  const std::string_view qualified = rest.substr(0, rest.find_first_of("<;]"));
  return qualified.substr(qualified.find_last_of(": &") + 1);
}

template <auto kernel>
[[nodiscard]] std::optional<simt::Fault> launch(simt::Machine& machine, const LaunchShape& shape,
                                                const Params<kernel>& params) {
  const auto body = [](const void* p) {
    if constexpr (!begins_early<kernel>) wait_for_launches_before();
    kernel(*static_cast<const Params<kernel>*>(p));
  };
  return machine.run(kernel_name<kernel>(), body, &params, shape,
                     {runs_by_steps<kernel>, next_begins_with_it<kernel>});
}

}  // namespace gdn::inline on_simt
