// Where wrong elements lie: planted patterns are named, and noise is not taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ci/triage/pattern.h"
#include "reference/formats.h"
#include "reference/rng.h"

namespace gdn {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What is right, with a bound of some roundings, and a copy to plant faults in.
struct Tensors {
  std::vector<Axis> axes;
  Bounded want;
  std::vector<float> got;

  Tensors(std::vector<Axis> of, uint64_t seed) : axes(std::move(of)) {
    int64_t count = 1;
    for (const Axis& axis : axes) count *= axis.count;
    Rng rng(seed);
    for (int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(rng.range(1, 1 << 24)) * 0x1p-20F;
      got.push_back(rng.range(0, 1) == 0 ? x : -x);
      want.value.push_back(got.back());
      want.bound.push_back(std::abs(x) * 4 * unit_roundoff);
    }
  }

  int64_t index(size_t flat, size_t dimension) const {
    auto rest = static_cast<int64_t>(flat);
    for (size_t d = axes.size() - 1; d > dimension; --d) rest /= axes[d].count;
    return rest % axes[dimension].count;
  }
  void plant(const std::function<bool(size_t)>& where, const std::function<float(size_t)>& what) {
    for (size_t i = 0; i < got.size(); ++i) {
      if (where(i)) got[i] = what(i);
    }
  }
  // A value that no formula gives.
  void spoil(const std::function<bool(size_t)>& where) {
    plant(where, [this](size_t i) {
      Rng rng(i + 77);
      return got[i] * (1 + static_cast<float>(rng.range(1, 1000)) * 0.01F);
    });
  }
  std::vector<std::string> patterns() const { return patterns_of(got, want, axes); }
};

const std::vector<Axis> state = {{"v-head", 4}, {"key channel", 8}, {"value channel", 8}};
const std::vector<Axis> rows = {{"row", 32}};

TEST(Pattern, WhatIsRightHasNone) { EXPECT_THAT(Tensors(state, 1).patterns(), IsEmpty()); }

TEST(Pattern, OneHeadAloneIsNamed) {
  Tensors t(state, 2);
  t.spoil([&](size_t i) { return t.index(i, 0) == 3; });
  EXPECT_THAT(t.patterns(), ElementsAre("v-head 3 alone"));
}

TEST(Pattern, ChannelsBeyondAPlaceOfOneHeadAreNamed) {
  Tensors t(state, 3);
  t.spoil([&](size_t i) { return t.index(i, 0) == 1 && t.index(i, 2) >= 3; });
  EXPECT_THAT(t.patterns(), ElementsAre("v-head 1 alone, value channels 3 and beyond, the last 5"));
}

TEST(Pattern, ARowOfEachTileIsNamed) {
  Tensors t(rows, 4);
  t.spoil([](size_t i) { return i % 4 == 2; });
  EXPECT_THAT(t.patterns(), ElementsAre(HasSubstr("every row r with r % 4 == 2 (a row of each 4")));
}

TEST(Pattern, OneRightElementAmongThemIsNoPlaceAnyMore) {
  Tensors t(state, 5);
  t.spoil([&](size_t i) { return t.index(i, 0) == 3 && i != 3 * 64 + 17; });
  EXPECT_THAT(t.patterns(), IsEmpty());
}

TEST(Pattern, ElementsFromOneOnAreNamedAcrossDimensions) {
  Tensors t(state, 6);
  t.spoil([](size_t i) { return i >= 100; });
  EXPECT_THAT(t.patterns(), ElementsAre("elements 100 and beyond, the last 156"));
}

TEST(Pattern, AConstantFactorIsGiven) {
  Tensors t(state, 7);
  t.plant([](size_t) { return true; }, [&](size_t i) { return t.got[i] * 1.4142135F; });
  EXPECT_THAT(t.patterns(), ElementsAre("every element is wrong",
                                        "a constant factor: 1.41421 times what is right"));
}

TEST(Pattern, AFactorThatOneElementLacksIsNone) {
  Tensors t(state, 8);
  t.plant([](size_t) { return true; },
          [&](size_t i) { return t.got[i] * (i == 9 ? 1.42F : 1.4142135F); });
  EXPECT_THAT(t.patterns(), ElementsAre("every element is wrong"));
}

TEST(Pattern, FlippedSignsAreNamed) {
  Tensors t(rows, 9);
  t.plant([](size_t i) { return i < 7; }, [&](size_t i) { return -t.got[i]; });
  EXPECT_THAT(t.patterns(), ElementsAre("rows before 7", "the sign is flipped"));
}

TEST(Pattern, AnAddedConstantIsGiven) {
  Tensors t(rows, 10);
  t.plant([](size_t) { return true; }, [&](size_t i) { return t.got[i] + 0.25F; });
  EXPECT_THAT(t.patterns(), Contains("a constant is added: 0.25"));
}

TEST(Pattern, NeighboursRowsAreNamed) {
  Tensors t(rows, 11);
  const std::vector<float> right = t.got;
  t.plant([](size_t i) { return i + 1 < 32; }, [&](size_t i) { return right[i + 1]; });
  EXPECT_THAT(t.patterns(), Contains("equals what is right at row +1"));
}

TEST(Pattern, SwappedHeadsAreNamed) {
  Tensors t({{"k-head", 3}, {"key channel", 8}}, 12);
  for (size_t i = 0; i < 8; ++i) std::swap(t.got[i], t.got[8 + i]);
  EXPECT_THAT(t.patterns(), ElementsAre("k-heads before 2", "k-heads 0 and 1 are swapped"));
}

TEST(Pattern, ATransposedStateIsNamed) {
  Tensors t(state, 13);
  const std::vector<float> right = t.got;
  t.plant([](size_t) { return true; },
          [&](size_t i) { return right[i / 64 * 64 + i % 8 * 8 + i / 8 % 8]; });
  EXPECT_THAT(t.patterns(), Contains("key channels and value channels are exchanged"));
}

TEST(Pattern, ZerosAndNaNsAreNamed) {
  Tensors zeros(rows, 14), nans(rows, 15);
  zeros.plant([](size_t i) { return i == 5; }, [](size_t) { return 0.0F; });
  nans.plant([](size_t i) { return i >= 30; }, [](size_t) { return NAN; });
  EXPECT_THAT(zeros.patterns(), ElementsAre("row 5 alone", "zero in place of a number"));
  EXPECT_THAT(nans.patterns(),
              ElementsAre("rows 30 and beyond, the last 2", "NaN in place of a number"));
}

TEST(Pattern, NumbersOfANarrowerFormatAreNamed) {
  Tensors t(rows, 16);
  t.plant([](size_t) { return true; },
          [&](size_t i) { return bf16_decode(bf16_encode(t.got[i])); });
  EXPECT_THAT(t.patterns(), Contains("every wrong number is one of bf16"));
}

// A quarter of all elements, at places and with values that a seed draws.
TEST(Pattern, NoiseIsNone) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Tensors t(state, seed);
    Rng rng(seed + 1000);
    std::vector<bool> hit;
    for (size_t i = 0; i < t.got.size(); ++i) hit.push_back(rng.range(0, 3) == 0);
    t.plant([&](size_t i) { return hit[i]; },
            [&](size_t) { return static_cast<float>(rng.range(-(1 << 24), 1 << 24)) * 0x1p-20F; });
    EXPECT_THAT(t.patterns(), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gdn
