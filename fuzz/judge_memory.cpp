// operator new of a search under AddressSanitizer. Inside a call of an engine it is the sanitizer's
// own, and so is all of malloc at any time: every byte of an engine, and every array that it is
// handed (invariants/harness/lent.h), has its redzones, its quarantine and its place in the search
// for leaks. What judges and mutators keep for themselves, which is most of what is allocated, is
// cut from slabs of one size each and comes back at once.
// The linker's --wrap leads here; that needs a static C++ library, whose calls it sees too.
// Slabs are no place that leaks are looked for from: between inputs no engine is open, so that
// nothing in them holds what is an engine's.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "invariants/harness/stand_in.h"

// The sanitizer's own, under the names that the linker gives them.
extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void __real__ZdlPv(void* memory) noexcept;
void __real__ZdaPv(void* memory) noexcept;
void __real__ZdlPvm(void* memory, size_t bytes) noexcept;
void __real__ZdaPvm(void* memory, size_t bytes) noexcept;
}

namespace gdn {
namespace {

// How many calls of engines this thread is in.
constinit thread_local int engines_running = 0;

constexpr size_t reserved_bytes = size_t{1} << 32;
constexpr size_t slab_bytes = size_t{1} << 16;
constexpr size_t step_bytes = 16;
constexpr size_t fine_max_bytes = 1024;
constexpr size_t fine_classes = fine_max_bytes / step_bytes + 1;
// Above, powers of two; the largest is beyond what a case needs.
constexpr size_t largest_bytes = size_t{1} << 26;
constexpr size_t classes = fine_classes + std::bit_width(largest_bytes / fine_max_bytes);

size_t class_of(size_t bytes) {
  if (bytes <= fine_max_bytes) return (bytes + step_bytes - 1) / step_bytes + (bytes == 0);
  return fine_classes + std::bit_width((bytes - 1) / fine_max_bytes) - 1;
}
size_t bytes_of(size_t size_class) {
  if (size_class < fine_classes) return size_class * step_bytes;
  return 2 * fine_max_bytes << (size_class - fine_classes);
}

struct Cell {
  Cell* next;
};

// Whole slabs, never given back.
struct Reserve {
  std::mutex lock;
  std::atomic<char*> begin = nullptr;  // null: not asked for yet
  size_t used = 0;                     // slabs
  std::array<uint8_t, reserved_bytes / slab_bytes> class_of_slab{};
};
static_assert(classes <= 256);
constinit Reserve reserve;
constinit thread_local std::array<Cell*, classes> free_cells{};

bool is_ours(const void* memory) {
  char* const begin = reserve.begin.load(std::memory_order_relaxed);
  return begin != nullptr &&
         static_cast<size_t>(static_cast<const char*>(memory) - begin) < reserved_bytes;
}

// More cells of a class; false where the reserve is used up.
bool refill(size_t size_class) {
  const std::lock_guard hold(reserve.lock);
  char* begin = reserve.begin;
  if (begin == nullptr) {
    void* const all = mmap(nullptr, reserved_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    reserve.begin = begin = static_cast<char*>(all);
  }
  const size_t cell_bytes = bytes_of(size_class);
  const size_t slabs = (cell_bytes + slab_bytes - 1) / slab_bytes;
  if (reserve.used + slabs > reserve.class_of_slab.size()) return false;
  char* const first = begin + reserve.used * slab_bytes;
  reserve.class_of_slab[reserve.used] = static_cast<uint8_t>(size_class);
  reserve.used += slabs;
  // In the order of their addresses.
  for (size_t i = slabs * slab_bytes / cell_bytes; i-- > 0;) {
    free_cells[size_class] = new (first + i * cell_bytes) Cell{free_cells[size_class]};
  }
  return true;
}

void* judges_own(size_t bytes) {
  if (bytes > largest_bytes) return nullptr;
  const size_t size_class = class_of(bytes);
  if (free_cells[size_class] == nullptr && !refill(size_class)) return nullptr;
  Cell* const cell = free_cells[size_class];
  free_cells[size_class] = cell->next;
  return cell;
}

void give_back(void* memory) {
  const auto offset = static_cast<size_t>(static_cast<char*>(memory) - reserve.begin.load());
  const size_t size_class = reserve.class_of_slab[offset / slab_bytes];
  free_cells[size_class] = new (memory) Cell{free_cells[size_class]};
}

struct EngineRuns {
  EngineRuns() { ++engines_running; }
  ~EngineRuns() { --engines_running; }
};

constexpr size_t tables_max = 12;
std::array<const gdn_api*, tables_max> tables;
std::array<gdn_api, tables_max> apart;

template <size_t Table, auto Member, class R, class... A>
void put_apart(R (*gdn_api::*)(A...)) {
  if (tables[Table]->*Member == nullptr) return;
  apart[Table].*Member = [](A... given) -> R {
    const EngineRuns now;
    return (tables[Table]->*Member)(given...);
  };
}

template <size_t Table, auto... Members>
void put_all_apart() {
  (put_apart<Table, Members>(Members), ...);
}

template <size_t Table>
void fill_table() {
  using T = gdn_api;
  put_all_apart<Table, &T::open, &T::close, &T::describe, &T::last_error, &T::buffer_create,
                &T::buffer_write, &T::buffer_read, &T::buffer_release, &T::apply, &T::dequant,
                &T::load_layer_f32, &T::unload_layer, &T::pool_init, &T::pool_put, &T::pool_get,
                &T::pool_clear, &T::bind_q4, &T::step, &T::run, &T::forward, &T::reset, &T::read,
                &T::state_export, &T::state_import, &T::snapshot, &T::rollback, &T::recurrent>();
}

template <size_t... Table>
void fill_tables(size_t table, std::index_sequence<Table...>) {
  ((table == Table ? fill_table<Table>() : void()), ...);
}

// The table of an engine in whose calls operator new is the engine's.
const gdn_api* apart_from_judges(const gdn_api* api) {
  size_t table = 0;
  while (table < tables_max && tables[table] != nullptr && tables[table] != api) ++table;
  if (table == tables_max) {
    std::fprintf(stderr, "a search uses at most %zu engines\n", tables_max);
    std::abort();
  }
  if (tables[table] == api) return &apart[table];
  tables[table] = api;
  apart[table] = *api;
  fill_tables(table, std::make_index_sequence<tables_max>());
  return &apart[table];
}

const bool stands_in = (stand_in_for_tables(apart_from_judges), true);

}  // namespace
}  // namespace gdn

extern "C" {
void* __wrap__Znwm(size_t bytes) {
  void* const own = gdn::engines_running == 0 ? gdn::judges_own(bytes) : nullptr;
  return own != nullptr ? own : __real__Znwm(bytes);
}
void* __wrap__Znam(size_t bytes) {
  void* const own = gdn::engines_running == 0 ? gdn::judges_own(bytes) : nullptr;
  return own != nullptr ? own : __real__Znam(bytes);
}
void __wrap__ZdlPv(void* memory) noexcept {
  if (gdn::is_ours(memory)) return gdn::give_back(memory);
  __real__ZdlPv(memory);
}
void __wrap__ZdaPv(void* memory) noexcept {
  if (gdn::is_ours(memory)) return gdn::give_back(memory);
  __real__ZdaPv(memory);
}
void __wrap__ZdlPvm(void* memory, size_t bytes) noexcept {
  if (gdn::is_ours(memory)) return gdn::give_back(memory);
  __real__ZdlPvm(memory, bytes);
}
void __wrap__ZdaPvm(void* memory, size_t bytes) noexcept {
  if (gdn::is_ours(memory)) return gdn::give_back(memory);
  __real__ZdaPvm(memory, bytes);
}
}
