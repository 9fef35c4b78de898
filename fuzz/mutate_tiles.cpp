// Changes of 4-bit weights and of what meets them: scales by bit pattern, codes, how many tiles
// there are, activations. Tiles lie in a case as words: two for four scales, then 16 words of
// codes, word 4 i + m of which holds bytes 4 i to 4 i + 3 of row m.
#include <algorithm>
#include <bit>
#include <cmath>

#include "fuzz/mutate.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Words = std::vector<uint32_t>;

constexpr size_t tile_words = q4_tile_bytes / 4;
constexpr int64_t block_columns = q4_block_weights;

// Zeros, the smallest and the largest of each kind of f16 with their neighbours, ones, a half
// whose product with a code is subnormal, infinities, NaNs.
constexpr uint16_t telling_scales[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x01FF, 0x0200, 0x03FF, 0x83FF, 0x0400,
    0x8400, 0x0401, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0xBC00, 0x4000, 0x7800, 0x7BFE,
    0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0x7DFF, 0x7E00, 0xFE00, 0xFC01, 0x7FFF};

// Activations: zeros, ones, the edges of float32, of f16's range times 127 and of ties in q8_0.
constexpr uint32_t telling_activations[] = {
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x42FE0000, 0x3F000000,
    0x3FC00000, 0x40200000, 0x4AFDFFC0, 0x4AFE0000, 0x337E0000, 0x01000000, 0x0D800000, 0x7E800000};

constexpr int64_t block_counts[] = {1, 2, 3, 5, 7, 8, 9, 16};

bool has_tiles(const Case& c) {
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  return c.subject == Subject::dequant || (projects && c.weights == Weights::q4);
}

int64_t below(Rng& rng, int64_t count) { return rng.range(0, count - 1); }

// The case's tiles, drawn ones given in full; null where it has none or not as many as it needs.
Words* tiles_of(Case& c) {
  if (!has_tiles(c)) return nullptr;
  if (!c.numbers.contains("tiles")) {
    std::string why;
    const std::optional<Numbers> numbers = materialise(c, &why);
    if (!numbers) return nullptr;
    c.numbers.erase("weight");
    c = c.with_tiles("tiles", numbers->tiles);
  }
  Words& words = c.numbers.at("tiles");
  const bool whole = c.rows * c.cols * tile_words == words.size() * q4_tile_rows * block_columns;
  return whole && !words.empty() ? &words : nullptr;
}

Words* activations_of(Case& c) {
  if (!has_tiles(c) || c.subject == Subject::dequant) return nullptr;
  if (!c.numbers.contains("x")) {
    std::string why;
    const std::optional<Numbers> numbers = materialise(c, &why);
    if (!numbers) return nullptr;
    c = c.with_numbers("x", numbers->arrays.at("x"));
  }
  Words& words = c.numbers.at("x");
  return static_cast<int64_t>(words.size()) == c.cols ? &words : nullptr;
}

// One block of 32 weights: a row of a tile.
struct Block {
  uint32_t* tile;
  int64_t row;

  uint16_t scale() const { return static_cast<uint16_t>(tile[row / 2] >> (16 * (row % 2))); }
  void set_scale(uint16_t bits) {
    const int64_t shift = 16 * (row % 2);
    uint32_t& word = tile[row / 2];
    word = (word & ~(uint32_t{0xFFFF} << shift)) | uint32_t{bits} << shift;
  }
  uint32_t& codes(int64_t quarter) { return tile[2 + 4 * quarter + row]; }
  void set_all_codes(uint32_t word) {
    for (int64_t quarter = 0; quarter < 4; ++quarter) codes(quarter) = word;
  }
  void set_code(int64_t column, uint32_t nibble) {
    const int64_t byte = column % 16;
    const int64_t shift = 8 * (byte % 4) + (column < 16 ? 0 : 4);
    uint32_t& word = codes(byte / 4);
    word = (word & ~(uint32_t{15} << shift)) | nibble << shift;
  }
};

Block block_at(Words& words, int64_t index) {
  const auto tile = static_cast<size_t>(index / q4_tile_rows) * tile_words;
  return {words.data() + tile, index % q4_tile_rows};
}

int64_t count_of_blocks(const Words& words) {
  return static_cast<int64_t>(words.size() / tile_words) * q4_tile_rows;
}

Block any_block(Words& words, Rng& rng) {
  return block_at(words, below(rng, count_of_blocks(words)));
}

template <class Do>
void each_block(Words& words, const Do& act) {
  for (int64_t i = 0; i < count_of_blocks(words); ++i) act(block_at(words, i));
}

// The first column, the last, those beside the middle of a block, or any.
int64_t telling_column(Rng& rng) {
  constexpr int64_t columns[] = {0, 15, 16, 31};
  return rng.range(0, 1) == 0 ? one_of(rng, columns) : below(rng, block_columns);
}

// Each of the sixteen codes twice, turned so that they meet other columns.
void every_code(Block block, Rng& rng) {
  const int64_t turn = rng.range(0, 15);
  for (int64_t i = 0; i < block_columns; ++i) {
    block.set_code(i, static_cast<uint32_t>((i + turn) % 16));
  }
}

// A row group's first tile or its last: where a tail is.
size_t edge_tile(const Case& c, Rng& rng) {
  const int64_t tiles_a_row = c.cols / block_columns;
  const int64_t group = below(rng, c.rows / q4_tile_rows);
  return static_cast<size_t>(group * tiles_a_row + (rng.range(0, 1) == 0 ? 0 : tiles_a_row - 1));
}

void lone_code(const Case& c, Words& words, Rng& rng) {
  each_block(words, [](Block block) { block.set_all_codes(0); });
  Block block{words.data() + edge_tile(c, rng) * tile_words, below(rng, q4_tile_rows)};
  block.set_code(telling_column(rng), static_cast<uint32_t>(rng.range(1, 15)));
}

void copy_block(Words& words, Rng& rng) {
  Block from = any_block(words, rng);
  Block to = any_block(words, rng);
  to.set_scale(from.scale());
  for (int64_t quarter = 0; quarter < 4; ++quarter) to.codes(quarter) = from.codes(quarter);
}

void unit_vector(Words& x, Rng& rng) {
  std::fill(x.begin(), x.end(), 0U);
  const int64_t blocks = static_cast<int64_t>(x.size()) / block_columns;
  const int64_t block = rng.range(0, 2) == 0 ? below(rng, blocks) : rng.range(0, 1) * (blocks - 1);
  x[static_cast<size_t>(block * block_columns + telling_column(rng))] =
      one_of(rng, telling_activations);
}

// Whole numbers and halves in a block whose q8_0 step is 2^e: each half is a tie.
void ties(Words& x, Rng& rng) {
  const int64_t blocks = static_cast<int64_t>(x.size()) / block_columns;
  const int64_t begin = below(rng, blocks) * block_columns;
  const int exponent = static_cast<int>(rng.range(-30, 30));
  for (int64_t i = begin; i < begin + block_columns; ++i) {
    const float step = i == begin ? 127.0F : static_cast<float>(rng.range(-253, 253)) / 2;
    x[static_cast<size_t>(i)] = std::bit_cast<uint32_t>(std::ldexp(step, exponent));
  }
}

// As many tiles as there are now: those that were, again and again.
void repeat_tiles(Words& words, int64_t groups, int64_t blocks, int64_t groups_now,
                  int64_t blocks_now) {
  Words all;
  all.reserve(static_cast<size_t>(groups_now * blocks_now) * tile_words);
  for (int64_t group = 0; group < groups_now; ++group) {
    for (int64_t block = 0; block < blocks_now; ++block) {
      const int64_t tile = group % groups * blocks + block % blocks;
      const auto from = words.begin() + tile * static_cast<int64_t>(tile_words);
      all.insert(all.end(), from, from + tile_words);
    }
  }
  words = std::move(all);
}

}  // namespace

void change_tile_counts(Case& c, Rng& rng) {
  Words* const words = tiles_of(c);
  if (words == nullptr) return;
  const int64_t groups = c.rows / q4_tile_rows;
  const int64_t blocks = c.cols / block_columns;
  const int64_t groups_now = rng.range(0, 2) == 0 ? groups : rng.range(1, 4);
  const int64_t blocks_now = rng.range(0, 2) == 0 ? blocks : one_of(rng, block_counts);
  repeat_tiles(*words, groups, blocks, groups_now, blocks_now);
  c.rows = groups_now * q4_tile_rows;
  c.cols = blocks_now * block_columns;
  const auto x = c.numbers.find("x");
  if (x == c.numbers.end() || x->second.empty()) return;
  const Words before = std::move(x->second);
  x->second.resize(static_cast<size_t>(c.cols));
  for (size_t i = 0; i < x->second.size(); ++i) x->second[i] = before[i % before.size()];
}

void change_scale(Case& c, Rng& rng) {
  Words* const words = tiles_of(c);
  if (words == nullptr) return;
  Block block = any_block(*words, rng);
  switch (rng.range(0, 7)) {
    case 0:
    case 1:
    case 2:
      return block.set_scale(one_of(rng, telling_scales));
    case 3:
    case 4:
      return block.set_scale(static_cast<uint16_t>(block.scale() ^ 1 << rng.range(0, 15)));
    case 5:
      return block.set_scale(static_cast<uint16_t>(rng.next()));
    case 6:
      return block.set_scale(any_block(*words, rng).scale());
    default: {
      const uint16_t bits = one_of(rng, telling_scales);
      each_block(*words, [bits](Block each) { each.set_scale(bits); });
    }
  }
}

void change_codes(Case& c, Rng& rng) {
  Words* const words = tiles_of(c);
  if (words == nullptr) return;
  Block block = any_block(*words, rng);
  switch (rng.range(0, 7)) {
    case 0:
    case 1:
    case 2:
      return block.set_code(telling_column(rng), static_cast<uint32_t>(rng.range(0, 15)));
    case 3:
      return block.set_all_codes(0x11111111U * static_cast<uint32_t>(rng.range(0, 15)));
    case 4:
      return every_code(block, rng);
    case 5:
      return lone_code(c, *words, rng);
    case 6:
      return copy_block(*words, rng);
    default: {
      // All but one block of zeros.
      uint32_t* const tile = block.tile;
      const int64_t row = block.row;
      each_block(*words, [&](Block each) {
        if (each.tile != tile || each.row != row) each.set_all_codes(0);
      });
    }
  }
}

void change_activations(Case& c, Rng& rng) {
  Words* const x = activations_of(c);
  if (x == nullptr) return;
  uint32_t& word = one_of(rng, *x);
  switch (rng.range(0, 7)) {
    case 0:
    case 1:
      word ^= uint32_t{1} << rng.range(0, 31);
      return;
    case 2:
    case 3:
      word = one_of(rng, telling_activations);
      return;
    case 4:
      return unit_vector(*x, rng);
    case 5:
      std::fill(x->begin(), x->end(), one_of(rng, telling_activations));
      return;
    case 6:
      return ties(*x, rng);
    default:
      // Sums that cancel: the second half takes the first away.
      for (size_t i = x->size() / 2; i < x->size(); ++i) {
        (*x)[i] = (*x)[i - x->size() / 2] ^ 0x80000000U;
      }
  }
}

void change_projection(Case& c, Rng& rng) {
  if (!has_tiles(c)) return;
  if (rng.range(0, 2) == 0) {
    const bool q8 = c.dialect.activation == Dialect::Activation::q8_0;
    c.dialect.activation = q8 ? Dialect::Activation::f32 : Dialect::Activation::q8_0;
    return;
  }
  if (tiles_of(c) == nullptr) return;
  constexpr Subject subjects[] = {Subject::in_proj, Subject::out_proj, Subject::dequant};
  c.subject = one_of(rng, subjects);
  const bool projects = c.subject != Subject::dequant;
  c.weights = projects ? Weights::q4 : Weights::f32;
  if (!projects) c.numbers.erase("x");
}

}  // namespace gdn
