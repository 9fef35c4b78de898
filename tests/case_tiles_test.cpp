// 4-bit weights that a case gives by their bits, and what such a case needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reference/case.h"
#include "reference/formats.h"
#include "reference/operators.h"
#include "tests/case_texts.h"

namespace gdn {
namespace {

using testing::HasSubstr;

const std::string q4_text = "deltaproof-case 1\nsubject in_proj\nseed 7\n" + shape_text +
                            "dialect deltaproof\nweights q4\nmatrix rows=8 cols=64\ntokens 0\n";

// Tiles of distinct bytes, so that none can be taken for another.
std::vector<uint8_t> counted_tiles(int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  for (size_t i = 0; i < tiles.size(); ++i) tiles[i] = static_cast<uint8_t>(i * 7 + i / 256);
  return tiles;
}

// Word 0 holds the scales of rows 0 and 1, 1 and -2; word 2 bytes 0 to 3 of row 0, word 3 those of
// row 1. Byte 0 of row 0 is f7: column 0 is 7, column 16 is -1. Byte 3 of row 1 is 01: column 3.
TEST(Tiles, GivenByTheirBitsAreThoseOfTheCase) {
  std::string text = "deltaproof-case 1\nsubject dequant\nseed 7\n" + shape_text +
                     "dialect deltaproof\nmatrix rows=4 cols=32\ntokens 0\n"
                     "numbers tiles c0003c00 00000000 000000f7 01000000 00000000 00000000 "
                     "00000000 00000000\n"
                     "numbers tiles 00000000 00000000 00000000 00000000 00000000 00000000 "
                     "00000000 00000000\n"
                     "numbers tiles 00000000 00000000\n";
  const Case c = parsed(text);
  EXPECT_EQ(print(c), text);
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  ASSERT_TRUE(numbers) << why;
  std::vector<double> want(128, 0.0);
  want[0] = 7;
  want[16] = -1;
  want[32 + 3] = -2;
  EXPECT_EQ(dequant(numbers->tiles.data(), 4, 32).value, want);
}

TEST(Tiles, OfEachMatrixAreTakenAsTheyAre) {
  std::string why;
  const std::vector<uint8_t> tiles = counted_tiles(8, 64);
  const Case projection = parsed(q4_text).with_tiles("tiles", tiles);
  EXPECT_EQ(projection.numbers.at("tiles").size(), 4 * 18U);
  EXPECT_EQ(materialise(projection, &why)->tiles, tiles) << why;
  EXPECT_EQ(print(parsed(print(projection))), print(projection));
  Case layer = parsed(
      "deltaproof-case 1\nsubject layer\nshape hidden_size=32 num_k_heads=1 "
      "head_k_dim=16 num_v_heads=1 head_v_dim=32 conv_kernel=1 num_layers=2\n"
      "weights q4\ntokens 1\n");
  const Numbers drawn = *materialise(layer, &why);
  layer = layer.with_tiles("qkv_tiles", counted_tiles(64, 32))
              .with_tiles("z_tiles@1", counted_tiles(32, 32))
              .with_tiles("out_tiles@1", counted_tiles(32, 32));
  const std::optional<Numbers> given = materialise(layer, &why);
  ASSERT_TRUE(given) << why;
  EXPECT_EQ(given->layers[0].qkv_tiles, counted_tiles(64, 32));
  EXPECT_EQ(given->layers[0].z_tiles, drawn.layers[0].z_tiles);
  EXPECT_EQ(given->layers[1].qkv_tiles, drawn.layers[1].qkv_tiles);
  EXPECT_EQ(given->layers[1].z_tiles, counted_tiles(32, 32));
  EXPECT_EQ(given->layers[1].out_tiles, counted_tiles(32, 32));
}

TEST(Tiles, ThatDoNotFitAreRefusedWithTheReason) {
  const auto why_not = [](const Case& c) {
    std::string why;
    return materialise(c, &why) ? "" : why;
  };
  Case c = parsed(q4_text).with_tiles("tiles", counted_tiles(4, 64));
  EXPECT_EQ(why_not(c), "numbers tiles: 36 given, expected 72 words, 18 a tile");
  c = parsed(q4_text).with_tiles("tiles", counted_tiles(8, 64));
  EXPECT_EQ(why_not(c), "");
  c.weights = Weights::f32;
  EXPECT_EQ(why_not(c), "numbers tiles: 4-bit tiles need a line weights q4, the weights are f32");
  c.weights = Weights::q4;
  c = c.with_numbers("weight", std::vector<float>(8 * 64, 1.0F));
  EXPECT_EQ(why_not(c), "numbers weight: the case gives its tiles as well");
  c = parsed(gates_text).with_tiles("tiles", counted_tiles(4, 32));
  EXPECT_EQ(why_not(c), "numbers tiles: a case of gates has no such array");
}

// Of tiles 0 1 / 2 3 a matrix of half the rows keeps 0 1, one of half the columns 0 2.
TEST(Tiles, OfASmallerNeighbourAreThoseThatAreLeft) {
  const std::vector<uint8_t> tiles = counted_tiles(8, 64);
  const auto of = [&](std::initializer_list<int> kept) {
    std::vector<uint8_t> bytes;
    for (const int tile : kept) {
      bytes.insert(bytes.end(), tiles.begin() + tile * 72, tiles.begin() + (tile + 1) * 72);
    }
    return bytes;
  };
  const Case c = parsed(q4_text).with_tiles("tiles", tiles);
  std::set<std::string> seen;
  for (const Case& near : c.neighbours()) {
    std::string why;
    const std::optional<Numbers> numbers = materialise(near, &why);
    ASSERT_TRUE(numbers) << why << "\n" << print(near);
    if (near.weights == Weights::f32) {
      EXPECT_FALSE(near.numbers.contains("tiles"));
      seen.insert("f32");
    } else if (near.rows == 4 && near.cols == 64) {
      EXPECT_EQ(numbers->tiles, of({0, 1}));
      seen.insert("rows");
    } else if (near.rows == 8 && near.cols == 32) {
      EXPECT_EQ(numbers->tiles, of({0, 2}));
      seen.insert("cols");
    } else if (near.numbers.contains("tiles") && numbers->tiles != tiles) {
      seen.insert("zeros");
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"f32", "rows", "cols", "zeros"}));
}

// An engine opens for q8_0 activations only where its own projections have whole blocks.
TEST(Validity, AProjectionWithQ8ActivationsNeedsAShapeOfWholeBlocks) {
  Case c = parsed(q4_text);
  c.dialect.activation = Dialect::Activation::q8_0;
  EXPECT_THAT(why_invalid(c), HasSubstr("hidden_size is 8, expected a multiple of 32"));
  c.shape.hidden_size = 32;
  EXPECT_THAT(why_invalid(c), HasSubstr("num_v_heads head_v_dim is 8"));
  c.shape.head_v_dim = 16;
  EXPECT_EQ(why_invalid(c), "");
}

}  // namespace
}  // namespace gdn
