// Changes of cases: valid, repeatable, what they write reads back as the same case, and those of
// 4-bit weights reach the patterns that they are about.
#include "fuzz/mutate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/case_target.h"
#include "reference/formats.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

// A projection of one row of tiles, its numbers drawn.
Case projection(int64_t cols) {
  Case c;
  c.subject = Subject::in_proj;
  c.seed = 5;
  c.shape = {.hidden_size = 32,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 32,
             .conv_kernel = 1};
  c.weights = Weights::q4;
  c.rows = q4_tile_rows;
  c.cols = cols;
  return c;
}

std::optional<Numbers> numbers_of(const Case& c) {
  std::string why;
  std::optional<Numbers> numbers = materialise(c, &why);
  EXPECT_TRUE(numbers) << why << "\n" << print(c);
  return numbers;
}

bool serves_all(const Case&) { return true; }

bool is_small(const Case& c) {
  return c.shape.hidden_size <= 64 && c.shape.conv_dim() <= 256 && c.shape.state_count() <= 4096 &&
         c.tokens <= 16 && c.rows * c.cols <= 4096 && c.shape.num_layers <= 2;
}

// A search takes what it wrote for what the text would be read as.
void expect_reads_back(const Case& c) {
  const std::string text = print(c);
  std::string why;
  const std::optional<Case> again = parse_case(text, &why);
  ASSERT_TRUE(again) << why << "\n" << text;
  EXPECT_EQ(print(*again), text);
  Case without_empty = c;
  std::erase_if(without_empty.numbers, [](const auto& array) { return array.second.empty(); });
  EXPECT_EQ(again->numbers, without_empty.numbers) << text;
  EXPECT_EQ(again->dialect, c.dialect) << text;
  EXPECT_EQ(again->shape, c.shape) << text;
  EXPECT_EQ(again->recipe, c.recipe) << text;
  EXPECT_EQ(again->calls.size(), c.calls.size()) << text;
  if (!is_small(c)) return;
  std::string other_why;
  const std::optional<Numbers> one = materialise(without_empty, &why);
  const std::optional<Numbers> two = materialise(*again, &other_why);
  EXPECT_EQ(one.has_value(), two.has_value()) << why << other_why;
  if (one && two) {
    EXPECT_EQ(one->tiles, two->tiles) << text;
    EXPECT_EQ(one->arrays.size(), two->arrays.size()) << text;
  }
}

TEST(Changes, AreValidRepeatableAndReadBackAsTheSameCase) {
  size_t changed = 0;
  const std::vector<CorpusFile> seeds = case_files("seeds");
  for (size_t i = 0; i < seeds.size(); ++i) {
    const Case& seed = seeds[i].content;
    for (uint64_t round = 0; round < 8; ++round) {
      Rng rng(round), same(round);
      const Case one = mutated(seed, rng, usual_changes(), serves_all);
      EXPECT_EQ(why_invalid(one), "") << seeds[i].name;
      EXPECT_EQ(print(mutated(seed, same, usual_changes(), serves_all)), print(one));
      expect_reads_back(one);
      const Case two = crossed(one, seeds[(i + round) % seeds.size()].content, rng, serves_all);
      EXPECT_EQ(why_invalid(two), "") << seeds[i].name;
      expect_reads_back(two);
      changed += print(one) != print(seed) ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 6 * seeds.size()) << "too few changes changed anything";
}

TEST(Changes, OfATargetStayAmongItsCasesAndGiveTheirNumbers) {
  size_t explicit_tiles = 0;
  std::set<int64_t> blocks;
  std::set<Subject> subjects;
  std::set<Dialect::Activation> activations;
  Rng rng(1);
  Case c = this_target.draw(rng);
  constexpr size_t rounds = 3000;
  for (size_t round = 0; round < rounds; ++round) {
    c = round % 50 == 0 ? this_target.draw(rng)
                        : mutated(c, rng, this_target.changes, this_target.serves);
    ASSERT_EQ(why_invalid(c), "");
    ASSERT_TRUE(this_target.serves(c)) << print(c);
    ASSERT_TRUE(numbers_of(c));
    if (round % 10 == 0) expect_reads_back(c);
    explicit_tiles += c.numbers.contains("tiles") ? 1 : 0;
    blocks.insert(c.cols / q4_block_weights);
    subjects.insert(c.subject);
    activations.insert(c.dialect.activation);
  }
  EXPECT_GT(explicit_tiles, rounds / 2);
  EXPECT_THAT(blocks, testing::IsSupersetOf({1, 2, 3, 5, 7, 8, 9, 16}));
  EXPECT_EQ(subjects.size(), 3U);
  EXPECT_EQ(activations.size(), 2U);
}

TEST(Changes, OfAScaleReachEachTellingPatternAndLeaveTheCodes) {
  const Case c = projection(64);
  const std::vector<uint8_t> before = numbers_of(c)->tiles;
  std::set<int> scales;
  for (uint64_t round = 0; round < 2000; ++round) {
    Rng rng(round);
    Case other = c;
    change_scale(other, rng);
    const std::vector<uint8_t> tiles = numbers_of(other)->tiles;
    ASSERT_EQ(tiles.size(), before.size());
    for (size_t i = 0; i < tiles.size(); ++i) {
      const size_t within_tile = i % static_cast<size_t>(q4_tile_bytes);
      if (within_tile >= 8) {
        ASSERT_EQ(tiles[i], before[i]) << "byte " << i;
      } else if (i % 2 == 0) {
        scales.insert(tiles[i] | tiles[i + 1] << 8);
      }
    }
  }
  // Zeros, the smallest and largest subnormal, the smallest normal and the largest number,
  // infinities, NaNs.
  EXPECT_THAT(scales, testing::IsSupersetOf({0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF,
                                             0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01}));
}

// Columns with a weight that is not zero, where every scale is 1.
std::vector<int64_t> columns_not_zero(Case c) {
  std::vector<uint32_t>& words = c.numbers.at("tiles");
  for (size_t tile = 0; tile < words.size(); tile += 18) words[tile] = words[tile + 1] = 0x3C003C00;
  const std::vector<uint8_t> tiles = numbers_of(c)->tiles;
  std::vector<float> row(static_cast<size_t>(c.cols));
  std::vector<int64_t> columns;
  for (int64_t r = 0; r < c.rows; ++r) {
    q4_tile_decode_row(tiles.data(), c.cols, r, row.data());
    for (int64_t i = 0; i < c.cols; ++i) {
      if (row[static_cast<size_t>(i)] != 0) columns.push_back(i);
    }
  }
  return columns;
}

TEST(Changes, OfCodesLeaveALoneOneInTheFirstAndInTheLastBlock) {
  std::set<int64_t> lone;
  for (uint64_t round = 0; round < 2000; ++round) {
    Rng rng(round);
    Case c = projection(96);
    change_codes(c, rng);
    const std::vector<int64_t> columns = columns_not_zero(c);
    if (columns.size() == 1) lone.insert(columns.front());
  }
  EXPECT_THAT(lone, testing::IsSupersetOf({0, 15, 16, 31, 64, 79, 80, 95}));
  for (const int64_t column : lone) EXPECT_TRUE(column < 32 || column >= 64) << column;
}

TEST(Changes, OfTileCountsRepeatTheTilesThatWere) {
  size_t wider = 0;
  for (uint64_t round = 0; round < 100; ++round) {
    Rng rng(round);
    Case c = projection(64);
    const Numbers before = *numbers_of(c);
    c = c.with_numbers("x", before.arrays.at("x"));
    change_tile_counts(c, rng);
    ASSERT_EQ(why_invalid(c), "");
    const Numbers after = *numbers_of(c);
    ASSERT_EQ(static_cast<int64_t>(after.arrays.at("x").size()), c.cols);
    const auto tiles_a_row = static_cast<size_t>(c.cols / q4_block_weights);
    for (size_t i = 0; i < after.tiles.size(); ++i) {
      const size_t tile = i / static_cast<size_t>(q4_tile_bytes) % tiles_a_row;
      const size_t was = tile % 2 * static_cast<size_t>(q4_tile_bytes);
      ASSERT_EQ(after.tiles[i], before.tiles[was + i % static_cast<size_t>(q4_tile_bytes)]);
    }
    wider += c.cols > 64 ? 1 : 0;
  }
  EXPECT_GT(wider, 10U);
}

TEST(Changes, OfActivationsReachUnitVectorsInEveryBlock) {
  std::set<int64_t> lone_blocks;
  for (uint64_t round = 0; round < 2000; ++round) {
    Rng rng(round);
    Case c = projection(96);
    change_activations(c, rng);
    const std::vector<uint32_t>& x = c.numbers.at("x");
    ASSERT_EQ(x.size(), 96U);
    int64_t count = 0, at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      ++count;
      at = static_cast<int64_t>(i);
    }
    if (count == 1) lone_blocks.insert(at / q4_block_weights);
  }
  EXPECT_EQ(lone_blocks, (std::set<int64_t>{0, 1, 2}));
}

TEST(Crossed, NumbersAreThoseOfOneParentOrTheOther) {
  const Case zeros = projection(64).with_tiles("tiles", std::vector<uint8_t>(144, 0));
  const Case ones = projection(64).with_tiles("tiles", std::vector<uint8_t>(144, 0x11));
  size_t mixed = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    Rng rng(round);
    const Case child = crossed(zeros, ones, rng, serves_all);
    std::set<uint32_t> words;
    for (const uint32_t word : child.numbers.at("tiles")) words.insert(word);
    for (const uint32_t word : words) EXPECT_TRUE(word == 0 || word == 0x11111111U);
    mixed += words.size() == 2 ? 1 : 0;
  }
  EXPECT_GT(mixed, 50U);
}

}  // namespace
}  // namespace gdn
