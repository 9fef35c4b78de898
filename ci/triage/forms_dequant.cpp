// Faults of decoding 4-bit blocks, weight = d (code - 8): seen in dequant and in each projection.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ci/triage/q4_parts.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Codes = std::array<int, 32>;

Q4Change each_code(std::function<void(Codes&)> change) {
  return [change = std::move(change)](Q4Matrix& m) {
    for (Q4Block& block : m.blocks) change(block.code);
    return true;
  };
}

// What the bits of a scale are read as.
Q4Change each_scale(std::function<double(uint16_t bits)> read) {
  return [read = std::move(read)](Q4Matrix& m) {
    for (Q4Block& block : m.blocks) block.scale = read(block.bits);
    return true;
  };
}

constexpr uint16_t sign = 0x8000;
bool is_subnormal(uint16_t bits) { return (bits & 0x7C00) == 0; }

Q4Change bits_read_as(uint16_t bits, uint16_t as) {
  return each_scale([=](uint16_t given) {
    const bool same = (given & ~sign) == bits;
    return f16_decode(same ? static_cast<uint16_t>((given & sign) | as) : given);
  });
}

void swap_halves(Codes& code) { std::swap_ranges(code.begin(), code.begin() + 16, &code[16]); }

void interleave(Codes& code) {
  const Codes was = code;
  for (size_t j = 0; j < 32; ++j) code[j] = was[j / 2 + j % 2 * 16];
}

// Nibbles of a tile are two's complement: their unsigned values less 8.
void offset_twice(Codes& code) {
  for (int& c : code) c = (c & 15) - 8;
}

bool swap_tile_rows(Q4Matrix& m) {
  for (int64_t row = 1; row + 1 < m.rows; row += q4_tile_rows) {
    for (int64_t block = 0; block < m.blocks_a_row; ++block) {
      std::swap(m.at(row, block), m.at(row + 1, block));
    }
  }
  return true;
}

bool reverse_tile_rows(Q4Matrix& m) {
  for (int64_t row = 0; row < m.rows; row += q4_tile_rows) {
    for (int64_t block = 0; block < m.blocks_a_row; ++block) {
      std::swap(m.at(row, block), m.at(row + 3, block));
      std::swap(m.at(row + 1, block), m.at(row + 2, block));
    }
  }
  return true;
}

bool first_scale_of_a_tile(Q4Matrix& m) {
  for (int64_t row = 0; row < m.rows; ++row) {
    for (int64_t block = 0; block < m.blocks_a_row; ++block) {
      m.at(row, block).scale = m.at(row - row % q4_tile_rows, block).scale;
    }
  }
  return true;
}

bool zero_blocks_to_nan(Q4Matrix& m) {
  for (Q4Block& block : m.blocks) {
    const bool no_code =
        std::all_of(block.code.begin(), block.code.end(), [](int c) { return c == 0; });
    if (block.scale == 0 || (no_code && std::isfinite(block.scale))) block.scale = NAN;
  }
  return true;
}

// A shift that is one off, where an exponent of 0 stands for that of 1.
double subnormal_times(uint16_t bits, double factor) {
  return is_subnormal(bits) ? f16_decode(bits) * factor : f16_decode(bits);
}

std::vector<DecodingFault> decoding_faults() {
  return {
      {"nibble_low_high_swapped", "low and high nibbles of a 4-bit block are swapped",
       each_code(swap_halves)},
      {"nibbles_interleaved", "byte j of a 4-bit block is taken for columns 2j and 2j + 1",
       each_code(interleave)},
      {"nibbles_offset_twice", "8 is subtracted from nibbles that are two's complement already",
       each_code(offset_twice)},
      {"nibbles_unsigned", "8 is not subtracted from the codes", each_code([](Codes& code) {
         for (int& c : code) c += 8;
       })},
      {"nibbles_taken_raw", "nibbles of a tile, which are two's complement, are read as unsigned",
       each_code([](Codes& code) {
         for (int& c : code) c &= 15;
       })},
      {"nibbles_offset_by_seven", "7 is subtracted from the codes in place of 8",
       each_code([](Codes& code) {
         for (int& c : code) ++c;
       })},
      {"nibbles_negated", "nibbles have the other sign", each_code([](Codes& code) {
         for (int& c : code) c = -c;
       })},
      {"fourth_code_of_a_row_repeated", "of each four bytes of codes the fourth repeats the third",
       each_code([](Codes& code) {
         for (size_t j = 3; j < 32; j += 4) code[j] = code[j - 1];
       })},
      {"f16_read_as_bf16", "f16 scales of 4-bit blocks are read as bf16",
       each_scale([](uint16_t bits) { return bf16_decode(bits); })},
      {"f16_subnormal_flushed", "subnormal scales of 4-bit blocks are flushed to 0",
       each_scale([](uint16_t bits) {
         return is_subnormal(bits) ? std::copysign(0.0, f16_decode(bits)) : f16_decode(bits);
       })},
      {"f16_subnormal_halved", "subnormal scales of 4-bit blocks are read as half of themselves",
       each_scale([](uint16_t bits) { return subnormal_times(bits, 0.5); })},
      {"f16_subnormal_doubled", "subnormal scales of 4-bit blocks are read as twice themselves",
       each_scale([](uint16_t bits) { return subnormal_times(bits, 2); })},
      {"f16_infinity_saturated",
       "infinite scales of 4-bit blocks are read as 65504",
       bits_read_as(0x7C00, 0x7BFF),
       false,
       {"product_saturates_infinite_scale"}},
      {"f16_sign_ignored", "the sign of 4-bit blocks' scales is ignored",
       each_scale([](uint16_t bits) { return std::abs(f16_decode(bits)); })},
      {"tile_rows_swapped", "rows 1 and 2 of each tile are swapped", swap_tile_rows},
      {"tile_rows_reversed", "the rows of each tile are reversed", reverse_tile_rows},
      {"scale_of_the_first_row", "all rows of a tile take the scale of the first",
       first_scale_of_a_tile},
      {"zero_block_gives_nan", "a block of zeros decodes to NaN", zero_blocks_to_nan},
      {"product_loses_smallest_scale", "the smallest subnormal scale of a block is taken as 0",
       bits_read_as(0x0001, 0), true},
      {"product_overflows_at_largest_scale", "a scale of 65504 is taken as infinity",
       bits_read_as(0x7BFF, 0x7C00), true},
      {"product_skips_nan_scale", "a block whose scale is the usual NaN is skipped",
       each_scale([](uint16_t bits) { return bits == 0x7E00 ? 0.0 : f16_decode(bits); }), true}};
}

std::vector<RegisteredForm> all_forms() {
  std::vector<RegisteredForm> forms;
  for (const DecodingFault& fault : decoding_faults()) {
    for (FaultForm& form : forms_of(fault)) forms.emplace_back(std::move(form));
  }
  return forms;
}
const std::vector<RegisteredForm> self = all_forms();

}  // namespace
}  // namespace gdn
