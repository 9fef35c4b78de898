// f16 and bf16 by their bits, and the 4-bit tile: 4 rows x 32 columns in 72 bytes, four f16 scales
// and then the nibbles in two's complement. Byte j of row m stands at 8 + (j/4) 16 + m 4 + j%4 and
// holds column j in its low and column j + 16 in its high nibble; weight = scale * nibble.
#include "device/twin/formats.h"

#include <bit>
#include <cstring>

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {
namespace {

// `value` shifted right by `shift` bits (1 to 31), rounded to nearest, ties to even. A carry out
// of a significand runs into the exponent above it, which is what rounding up means there.
uint32_t shift_to_even(uint32_t value, int shift) {
  const uint32_t half = uint32_t{1} << (shift - 1);
  const uint32_t odd = (value >> shift) & 1U;
  return (value + half - 1 + odd) >> shift;
}

uint16_t read_u16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}

}  // namespace

float f16_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t significand = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (significand << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(significand) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (significand << 13));
}

uint16_t float_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  uint32_t rounded = 0;
  if (magnitude > 0x7F800000U) {
    rounded = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  } else if (magnitude >= 0x47800000U) {  // 2^16 and above, infinity
    rounded = 0x7C00U;
  } else if (magnitude >= 0x38800000U) {  // 2^-14 and above: normal
    rounded = shift_to_even(magnitude - (uint32_t{112} << 23), 13);
  } else if (magnitude >= 0x33000000U) {  // 2^-25 and above: subnormal, or rounds up to one
    const auto exponent = static_cast<int>(magnitude >> 23);
    rounded = shift_to_even((magnitude & 0x7FFFFFU) | 0x800000U, 126 - exponent);
  }
  return static_cast<uint16_t>(sign | rounded);
}

uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  return static_cast<uint16_t>(sign | shift_to_even(bits & 0x7FFFFFFFU, 16));
}

int64_t element_bytes(gdn_format format) {
  switch (format) {
    case GDN_F32:
    case GDN_I32:
      return 4;
    case GDN_BF16:
    case GDN_F16:
      return 2;
    case GDN_Q4_TILE:
      break;
  }
  return 0;
}

float load_element(gdn_format format, const unsigned char* array, int64_t index) {
  if (format == GDN_F32) {
    float value = 0;
    std::memcpy(&value, array + index * 4, sizeof value);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, array + index * 2, sizeof bits);
  return format == GDN_F16 ? f16_to_float(bits) : std::bit_cast<float>(uint32_t{bits} << 16);
}

void store_element(gdn_format format, unsigned char* array, int64_t index, float value) {
  if (format == GDN_F32) {
    std::memcpy(array + index * 4, &value, sizeof value);
    return;
  }
  const uint16_t bits = format == GDN_F16 ? float_to_f16(value) : float_to_bf16(value);
  std::memcpy(array + index * 2, &bits, sizeof bits);
}

const char* why_not_tiles(int64_t rows, int64_t cols, int64_t* bytes) {
  if (rows < 1 || rows % tile_rows != 0) return "rows must be a positive multiple of 4";
  if (cols < 1 || cols % tile_cols != 0) return "cols must be a positive multiple of 32";
  // The decoder counts weights, of which there are more than bytes.
  int64_t weights = 0;
  if (__builtin_mul_overflow(rows, cols, &weights)) return "the matrix's size overflows 64 bits";
  *bytes = weights / (tile_rows * tile_cols) * tile_bytes;
  return nullptr;
}

void decode_tile(const uint8_t* tile, float* weights) {
  const auto signed_nibble = [](int nibble) { return static_cast<float>((nibble ^ 8) - 8); };
  for (int64_t m = 0; m < tile_rows; ++m) {
    const float scale = f16_to_float(read_u16(tile + 2 * m));
    float* row = weights + m * tile_cols;
    for (int64_t j = 0; j < 16; ++j) {
      const uint8_t byte = tile[8 + (j / 4) * 16 + m * 4 + j % 4];
      row[j] = scale * signed_nibble(byte & 15);
      row[j + 16] = scale * signed_nibble(byte >> 4);
    }
  }
}

}  // namespace gdn::twin
