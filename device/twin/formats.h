// Narrow number formats as the twin reads and writes them.
#pragma once

#include <cstdint>

#include "device/gdn.h"

namespace gdn::twin {

float f16_to_float(uint16_t bits);   // exact; a NaN keeps sign and payload
uint16_t float_to_f16(float value);  // nearest even; overflow gives infinity
uint16_t float_to_bf16(float value);

// Bytes of one element of a buffer's format; 0 for tiles, which are no elements.
int64_t element_bytes(gdn_format format);
// Element `index` of an array of f32, bf16 or f16; a store rounds once, to nearest even.
float load_element(gdn_format format, const unsigned char* array, int64_t index);
void store_element(gdn_format format, unsigned char* array, int64_t index, float value);

inline constexpr int64_t tile_rows = 4;
inline constexpr int64_t tile_cols = 32;
inline constexpr int64_t tile_bytes = 72;
// nullptr and the bytes of a tile matrix, or what is wrong with its dimensions.
const char* why_not_tiles(int64_t rows, int64_t cols, int64_t* bytes);
// weights: [4][32], row-major.
void decode_tile(const uint8_t* tile, float* weights);

}  // namespace gdn::twin
