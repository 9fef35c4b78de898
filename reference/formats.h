// Number formats, exactly: f16, bf16, q4_0 blocks, q4_tile matrices, q8_0 activations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/bound.h"

namespace gdn {

// Decoding is exact for each of the 65,536 patterns. A NaN keeps its sign and payload, shifted
// into the float32 significand; it is not quieted.
float f16_decode(uint16_t bits);
float bf16_decode(uint16_t bits);

// Rounds to nearest, ties to even; overflow gives infinity, subnormals are kept. A NaN keeps sign
// and top payload bits and is quieted. From double the value is rounded once, not twice.
uint16_t f16_encode(double value);
uint16_t bf16_encode(double value);

// value rounded to nearest even in `format`, as a double; one rounding.
double round_to(Format format, double value);

inline constexpr int64_t q4_block_weights = 32;
inline constexpr int64_t q4_block_bytes = 18;
inline constexpr int64_t q4_tile_rows = 4;
inline constexpr int64_t q4_tile_bytes = 72;
inline constexpr int64_t q8_block_values = 32;

// Bytes of a [rows, cols] matrix as q4_0 blocks (row-major) or as q4_tile tiles (row-group-major).
// Both need cols a multiple of 32, tiles rows a multiple of 4: see why_not_q4.
constexpr int64_t q4_bytes(int64_t rows, int64_t cols) { return rows * (cols / 32) * 18; }
// What is wrong with the dimensions for a tile matrix; empty if nothing.
std::string why_not_q4_tile(int64_t rows, int64_t cols);

// One block of 32 weights, weight = d (code - 8) by IEEE: an infinite d gives NaN at code 8, and
// -0 is kept. byte j holds code j in its low and code j + 16 in its high nibble.
void q4_0_decode_block(const uint8_t* block, float* weights);

// Quantises 32 weights as ggml's reference quantiser does. In float32, each step rounded:
// d = (first element of largest magnitude, with its sign) / -8, id = 1/d (0 where d is 0),
// code = min(15, trunc(x id + 8.5)); d is stored as f16, rounded to nearest even. So the largest
// element gets code 0 and an equal one of opposite sign is clipped to 15. An all-zero block has
// d = -0 (0x8000) and codes 8, and so has one where 1/d overflows. A block so small that d rounds
// to f16 zero keeps its codes and decodes to zeros.
// Returns an empty string, or what is wrong: NaN, infinity, |d| > 65504.
std::string q4_0_encode_block(const float* weights, uint8_t* block);

// Row-major matrices. decode_row writes `cols` floats.
void q4_0_decode_row(const uint8_t* blocks, int64_t cols, int64_t row, float* weights);
void q4_tile_decode_row(const uint8_t* tiles, int64_t cols, int64_t row, float* weights);

// q4_0 blocks to tiles and back; a bijection. Dimensions must satisfy why_not_q4_tile.
std::vector<uint8_t> q4_tile_pack(std::span<const uint8_t> blocks, int64_t rows, int64_t cols);
std::vector<uint8_t> q4_tile_unpack(std::span<const uint8_t> tiles, int64_t rows, int64_t cols);

// Quantise a float32 matrix straight to tiles; nullopt and `*why` where a block cannot be encoded.
std::optional<std::vector<uint8_t>> q4_tile_quantise(std::span<const float> weights, int64_t rows,
                                                     int64_t cols, std::string* why);

// Activations as q8_0, and what they decode to: d = amax/127 in float32, id = 1/d (0 where d is 0
// or 1/d overflows), q = fl(x id) rounded half away from zero, value = q f16(d) by IEEE.
// A NaN decodes to NaN and takes no part in amax; an infinity makes its whole block NaN; a d that
// rounds to an infinite f16 gives infinities, and NaN where q is 0. The count must be a multiple
// of 32; values beyond the last whole block decode to 0.
std::vector<float> q8_0_round_trip(std::span<const float> activations);

}  // namespace gdn
