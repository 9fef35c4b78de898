// What is remembered of each byte of memory: whether it was ever written, and in the running launch
// who wrote it last and who has read it since. After Flanagan and Freund, FastTrack, PLDI 2009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gdn::simt {

// Zeroed memory, page by page as it is touched. What is small is kept for the next one of its size
// on this operating system thread: calls of the system cost more than zeroing does.
class ZeroedBytes {
 public:
  ZeroedBytes() = default;
  explicit ZeroedBytes(size_t bytes);
  ZeroedBytes(ZeroedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ZeroedBytes& operator=(ZeroedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroedBytes();
  void clear();
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

template <class T>
class SparseArray {
 public:
  SparseArray() = default;
  explicit SparseArray(size_t count) : memory_(count * sizeof(T)) {}
  void clear() { memory_.clear(); }
  bool empty() const { return memory_.data() == nullptr; }
  T& operator[](size_t i) { return static_cast<T*>(memory_.data())[i]; }
  const T& operator[](size_t i) const { return static_cast<const T*>(memory_.data())[i]; }

 private:
  ZeroedBytes memory_;
};

// One access. A run is one block of one launch; runs are numbered over the life of the machine, so
// that records of earlier launches need no clearing. 0 is no access.
struct Record {
  uint32_t run = 0;
  uint32_t time = 0;  // the thread's clock, which barriers and syncwarp advance
  uint32_t thread : 10 = 0;
  uint32_t is_atomic : 1 = 0;
  uint32_t file : 5 = 0;  // index in the machine's table of files
  uint32_t line : 16 = 0;
};

// The last plain write, and two accesses since: plain reads, or atomic operations. Which two are
// kept of many that are unordered: see note().
struct Cell {
  Record writer;
  Record others[2];
  bool split = false;  // of a word's cell: its four bytes have cells of their own
};

enum class Access : uint8_t { read, write, atomic };

// Enters `mine` into a cell; returns an earlier access that races with it, or nullptr.
// `ordered(record)` says whether that access comes before mine.
//
// A dropped access hides no race. One that is ordered before mine: what is unordered with it is
// unordered with mine. A third of several unordered: blocks run one after the other, so one of an
// earlier block races with every later write of the launch; if all are of this block, two of
// different warps race with every write up to its next barrier, and with those of later blocks. Of
// three lanes of one warp two are kept: a later write can be ordered after both and not after the
// third only where syncwarp was given a part of the warp.
template <class Ordered>
const Record* note(Cell& cell, const Record& mine, Access access, Ordered&& ordered) {
  if (cell.writer.run != 0 && !ordered(cell.writer)) return &cell.writer;
  const bool is_write = access == Access::write;
  for (const Record& other : cell.others) {
    const bool both_may = !is_write && other.is_atomic == mine.is_atomic;
    if (other.run != 0 && !both_may && !ordered(other)) return &other;
  }
  if (is_write) {
    cell.writer = mine;
    cell.others[0] = {};
    cell.others[1] = {};
    return nullptr;
  }
  for (Record& other : cell.others) {
    if (other.run == 0 || ordered(other)) {
      other = mine;
      return nullptr;
    }
  }
  const Record& first = cell.others[0];
  Record& second = cell.others[1];
  const bool all_of_my_block = first.run == mine.run && second.run == mine.run;
  const bool one_warp = first.thread / 32 == second.thread / 32;
  if (all_of_my_block && one_warp && mine.thread / 32 != first.thread / 32) second = mine;
  return nullptr;
}

class Shadow {
 public:
  Shadow() = default;
  explicit Shadow(size_t bytes)
      : written_(bytes / 8 + 3), words_(bytes / 4 + 1), bytes_count_(bytes + 4) {}

  void mark_written(size_t begin, size_t count, bool written);
  void copy_written(size_t begin, const Shadow& from, size_t from_begin, size_t count);
  // count is at most 16.
  bool all_written(size_t begin, unsigned count) const;
  void forget_accesses();
  // Whether a run from `first_run` on wrote one of the bytes.
  bool run_wrote(size_t begin, unsigned count, uint32_t first_run);

  // As above, for bytes [begin, begin + count).
  template <class Ordered>
  const Record* note_range(size_t begin, unsigned count, const Record& mine, Access access,
                           Ordered&& ordered) {
    const size_t end = begin + count;
    for (size_t at = begin; at < end;) {
      Cell& word = words_[at / 4];
      const bool whole = at % 4 == 0 && at + 4 <= end;
      if (whole && !word.split) {
        if (const Record* race = note(word, mine, access, ordered)) return race;
        at += 4;
        continue;
      }
      if (!word.split) split(at / 4);
      if (const Record* race = note(bytes_[at], mine, access, ordered)) return race;
      ++at;
    }
    return nullptr;
  }

 private:
  void split(size_t word);

  SparseArray<uint8_t> written_;  // one bit a byte
  SparseArray<Cell> words_;
  size_t bytes_count_ = 0;
  SparseArray<Cell> bytes_;  // of split words, once there is one
};

}  // namespace gdn::simt
