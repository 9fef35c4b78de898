// Bits of written bytes, and words that are split into bytes.
#include "device/simt/shadow.h"

#include <cstring>

namespace gdn::simt {

void Shadow::mark_written(size_t begin, size_t count, bool written) {
  const size_t end = begin + count;
  const auto mark = [&](size_t i) {
    const auto bit = static_cast<uint8_t>(1U << (i % 8));
    written_[i / 8] =
        static_cast<uint8_t>(written ? written_[i / 8] | bit : written_[i / 8] & ~bit);
  };
  size_t at = begin;
  for (; at < end && at % 8 != 0; ++at) mark(at);
  const size_t whole_bytes = (end - at) / 8;
  if (whole_bytes > 0) std::memset(&written_[at / 8], written ? 0xff : 0, whole_bytes);
  for (at += whole_bytes * 8; at < end; ++at) mark(at);
}

void Shadow::copy_written(size_t begin, const Shadow& from, size_t from_begin, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t source = from_begin + i;
    mark_written(begin + i, 1, (from.written_[source / 8] >> (source % 8) & 1) != 0);
  }
}

bool Shadow::all_written(size_t begin, unsigned count) const {
  uint32_t bits = 0;
  for (unsigned i = 0; i < 3; ++i)
    bits |= static_cast<uint32_t>(written_[begin / 8 + i]) << (8 * i);
  const uint32_t wanted = (1U << count) - 1;
  return (bits >> (begin % 8) & wanted) == wanted;
}

bool Shadow::run_wrote(size_t begin, unsigned count, uint32_t first_run) {
  for (size_t at = begin; at < begin + count; ++at) {
    const Cell& word = words_[at / 4];
    if ((word.split ? bytes_[at] : word).writer.run >= first_run) return true;
  }
  return false;
}

void Shadow::forget_accesses() {
  words_.clear();
  bytes_.clear();
}

void Shadow::split(size_t word) {
  for (size_t i = 0; i < 4; ++i) bytes_[word * 4 + i] = words_[word];
  words_[word].split = true;
}

}  // namespace gdn::simt
