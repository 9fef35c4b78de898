// Conventions by their names in the ABI; numbers to and from 16 bits.
#include "invariants/harness/recurrent_conventions.h"

#include <cstring>

#include "reference/formats.h"

namespace gdn {

gdn_format c_format(Format format) {
  return format == Format::f32 ? GDN_F32 : (format == Format::bf16 ? GDN_BF16 : GDN_F16);
}

size_t bytes_of(Format format) { return format == Format::f32 ? 4 : 2; }

std::vector<uint8_t> stored(const std::vector<float>& numbers, Format format) {
  std::vector<uint8_t> bytes(numbers.size() * bytes_of(format));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (format == Format::f32) {
      std::memcpy(bytes.data() + 4 * i, &numbers[i], 4);
      continue;
    }
    const uint16_t bits = format == Format::bf16 ? bf16_encode(numbers[i]) : f16_encode(numbers[i]);
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
  }
  return bytes;
}

std::vector<float> loaded(const std::vector<uint8_t>& bytes, Format format) {
  std::vector<float> numbers(bytes.size() / bytes_of(format));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (format == Format::f32) {
      std::memcpy(&numbers[i], bytes.data() + 4 * i, 4);
      continue;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    numbers[i] = format == Format::bf16 ? bf16_decode(bits) : f16_decode(bits);
  }
  return numbers;
}

gdn_qk_norm_form c_norm(Dialect::QkNorm norm) {
  switch (norm) {
    case Dialect::QkNorm::sum_eps:
      return GDN_QK_NORM_SUM_EPS;
    case Dialect::QkNorm::max_norm:
      return GDN_QK_NORM_MAX;
    case Dialect::QkNorm::mean_eps:
      return GDN_QK_NORM_MEAN_EPS;
    case Dialect::QkNorm::none:
      return GDN_QK_NORM_NONE;
  }
  return GDN_QK_NORM_NONE;
}

gdn_sequence_coding c_coding(Dialect::SequenceCoding coding) {
  switch (coding) {
    case Dialect::SequenceCoding::cumulative:
      return GDN_CUMULATIVE;
    case Dialect::SequenceCoding::lengths:
      return GDN_LENGTHS;
    case Dialect::SequenceCoding::start_and_lengths:
      return GDN_START_AND_LENGTHS;
  }
  return GDN_CUMULATIVE;
}

gdn_state_writes c_writes(Dialect::StateWrites writes) {
  switch (writes) {
    case Dialect::StateWrites::final_only:
      return GDN_WRITE_FINAL;
    case Dialect::StateWrites::every_token:
      return GDN_WRITE_EVERY_TOKEN;
    case Dialect::StateWrites::last_k_newest_first:
      return GDN_WRITE_LAST;
  }
  return GDN_WRITE_FINAL;
}

gdn_padding c_padding(Dialect::Padding padding) {
  switch (padding) {
    case Dialect::Padding::negative_skips:
      return GDN_NEGATIVE_SKIPS;
    case Dialect::Padding::negative_zeroes:
      return GDN_NEGATIVE_ZEROES;
    case Dialect::Padding::not_positive_zeroes:
      return GDN_NOT_POSITIVE_ZEROES;
    case Dialect::Padding::slot_zero_is_null:
      return GDN_SLOT_ZERO_IS_NULL;
    case Dialect::Padding::not_allowed:
      return GDN_NO_PADDING;
  }
  return GDN_NO_PADDING;
}

}  // namespace gdn
