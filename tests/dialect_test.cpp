// Dialects: every dimension is reachable by name, wrong names are told apart, and each preset holds
// the facts that distinguish its family.
#include "reference/dialect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reference/presets.h"

namespace gdn {
namespace {

using ::testing::HasSubstr;

Dialect preset(std::string_view name) {
  const std::optional<Dialect> found = dialect_named(name);
  EXPECT_TRUE(found.has_value()) << name;
  return found.value_or(Dialect{});
}

TEST(Dialects, EveryValueOfEveryDimensionCanBeSetAndReadBack) {
  for (std::string_view dimension : dialect_dimensions()) {
    ASSERT_FALSE(dimension_values(dimension).empty()) << dimension;
    for (std::string_view value : dimension_values(dimension)) {
      Dialect dialect;
      EXPECT_EQ(set_dimension(dialect, dimension, value), "");
      EXPECT_EQ(get_dimension(dialect, dimension), value);
    }
  }
}

TEST(Dialects, ValuesOfOneDimensionAreDistinctDialects) {
  for (std::string_view dimension : dialect_dimensions()) {
    std::set<std::string> seen;
    for (std::string_view value : dimension_values(dimension)) {
      Dialect dialect;
      set_dimension(dialect, dimension, value);
      for (std::string_view other : dialect_dimensions()) {
        if (other == dimension) continue;
        EXPECT_EQ(get_dimension(dialect, other), get_dimension(Dialect{}, other))
            << dimension << " = " << value << " changed " << other;
      }
      EXPECT_TRUE(seen.insert(get_dimension(dialect, dimension)).second);
    }
  }
}

TEST(Dialects, DimensionsCoverEveryFieldButTheName) {
  // Two dialects that agree in every dimension and in the name are equal: copy by text alone.
  for (std::string_view name : dialect_names()) {
    const Dialect want = preset(name);
    Dialect copy;
    copy.name = want.name;
    for (std::string_view dimension : dialect_dimensions()) {
      EXPECT_EQ(set_dimension(copy, dimension, get_dimension(want, dimension)), "");
    }
    EXPECT_EQ(copy, want) << name;
  }
}

TEST(Dialects, ScaleIsOneOverRootKdOrANumberThatReadsBack) {
  Dialect dialect;
  EXPECT_EQ(get_dimension(dialect, "scale"), "1/sqrt(kd)");
  EXPECT_EQ(set_dimension(dialect, "scale", "0.0883883461"), "");
  ASSERT_TRUE(dialect.scale.has_value());
  EXPECT_EQ(*dialect.scale, 0.0883883461F);
  Dialect copy;
  set_dimension(copy, "scale", get_dimension(dialect, "scale"));
  EXPECT_EQ(copy.scale, dialect.scale);
  EXPECT_EQ(set_dimension(dialect, "scale", "1/sqrt(kd)"), "");
  EXPECT_FALSE(dialect.scale.has_value());
  for (const char* wrong : {"", "one", "1.0x", "nan", "inf", "1e99"}) {
    EXPECT_THAT(set_dimension(dialect, "scale", wrong), HasSubstr("scale: '")) << wrong;
    EXPECT_FALSE(dialect.scale.has_value());
  }
}

TEST(Dialects, AnUnknownValueIsNamedWithTheKnownOnes) {
  Dialect dialect;
  EXPECT_EQ(set_dimension(dialect, "head_map", "x"), "head_map: 'x' is not one of grouped, tiled");
  EXPECT_EQ(dialect, Dialect{});
}

TEST(Dialects, AnUnknownDimensionIsNamedWithTheKnownOnes) {
  Dialect dialect;
  const std::string message = set_dimension(dialect, "heads", "grouped");
  EXPECT_THAT(message, HasSubstr("'heads' is no dimension"));
  EXPECT_THAT(message, HasSubstr("state_layout, head_map"));
  EXPECT_EQ(get_dimension(dialect, "heads"), "");
  EXPECT_TRUE(dimension_values("heads").empty());
}

TEST(Presets, AreTheNineFamiliesAndCarryTheirNames) {
  const std::set<std::string_view> names(dialect_names().begin(), dialect_names().end());
  EXPECT_EQ(names,
            (std::set<std::string_view>{"deltaproof", "hf", "fla", "vllm", "ggml", "ascend",
                                        "ascend_310p", "flashinfer_decode", "flashinfer_prefill"}));
  for (std::string_view name : dialect_names()) EXPECT_EQ(preset(name).name, name);
  EXPECT_FALSE(dialect_named("torch").has_value());
}

TEST(Presets, HaveAFactForEveryDimensionAndTheDialectIsMadeOfThem) {
  for (const Preset& each : presets()) {
    const Dialect made = preset(each.name);
    ASSERT_EQ(each.facts.size(), dialect_dimensions().size()) << each.name;
    for (size_t i = 0; i < each.facts.size(); ++i) {
      const PresetFact& fact = each.facts[i];
      EXPECT_EQ(fact.dimension, dialect_dimensions()[i]) << each.name;
      EXPECT_EQ(get_dimension(made, fact.dimension), fact.value) << each.name;
      EXPECT_FALSE(fact.where.empty()) << each.name << " " << fact.dimension;
      EXPECT_FALSE(fact.fact.empty()) << each.name << " " << fact.dimension;
      // A definition is nobody else's, and what others do is no definition.
      EXPECT_EQ(fact.basis == Basis::own, each.name == "deltaproof") << each.name;
    }
  }
}

TEST(Presets, DeltaproofIsTheLayerAsDefined) { EXPECT_EQ(preset("deltaproof"), Dialect{}); }

TEST(Presets, StatesAreStoredKeyFirstByHfAndFlaAndValueFirstByTheOthers) {
  for (std::string_view name : {"deltaproof", "hf", "fla"}) {
    EXPECT_EQ(preset(name).state_layout, Dialect::StateLayout::kv) << name;
  }
  for (std::string_view name :
       {"vllm", "ggml", "ascend", "ascend_310p", "flashinfer_decode", "flashinfer_prefill"}) {
    EXPECT_EQ(preset(name).state_layout, Dialect::StateLayout::vk) << name;
  }
}

TEST(Presets, OnlyGgmlTilesHeadsTakesTheMaxNormAndScalesTheOutput) {
  for (std::string_view name : dialect_names()) {
    const Dialect dialect = preset(name);
    const bool is_ggml = name == "ggml";
    EXPECT_EQ(dialect.head_map == Dialect::HeadMap::tiled, is_ggml) << name;
    EXPECT_EQ(dialect.qk_norm == Dialect::QkNorm::max_norm, is_ggml) << name;
    EXPECT_EQ(dialect.scale_on == Dialect::ScaleOn::output, is_ggml) << name;
    EXPECT_EQ(dialect.state_writes == Dialect::StateWrites::last_k_newest_first, is_ggml) << name;
  }
}

TEST(Presets, BetaIsRoundedToBf16WhereASigmoidIsStoredInTheModelsType) {
  for (std::string_view name : {"hf", "vllm", "ascend"}) {
    EXPECT_EQ(preset(name).beta, Dialect::Beta::bf16) << name;
  }
  for (std::string_view name :
       {"deltaproof", "fla", "ggml", "flashinfer_decode", "flashinfer_prefill"}) {
    EXPECT_EQ(preset(name).beta, Dialect::Beta::f32) << name;
  }
}

TEST(Presets, SequencesAreCodedDifferentlyByTheTwoAscendCallers) {
  EXPECT_EQ(preset("ascend").sequence_coding, Dialect::SequenceCoding::start_and_lengths);
  EXPECT_EQ(preset("ascend_310p").sequence_coding, Dialect::SequenceCoding::lengths);
  EXPECT_EQ(preset("vllm").sequence_coding, Dialect::SequenceCoding::cumulative);
}

TEST(Presets, OnlyFlashinferPrefillTakesAlphaInTheLinearDomain) {
  for (std::string_view name : dialect_names()) {
    EXPECT_EQ(preset(name).gate_input == Dialect::GateInput::linear_alpha,
              name == "flashinfer_prefill")
        << name;
  }
}

TEST(Presets, SpeculativeStepsStartAtTheAcceptedSlotInVllmAndAscend) {
  for (std::string_view name : {"vllm", "ascend", "ascend_310p"}) {
    EXPECT_EQ(preset(name).start_slot, Dialect::StartSlot::accepted_minus_one) << name;
    EXPECT_EQ(preset(name).state_writes, Dialect::StateWrites::every_token) << name;
  }
}

TEST(Presets, StorageOfTheAscendChipsDiffers) {
  EXPECT_EQ(preset("ascend").state_storage, Format::bf16);
  EXPECT_EQ(preset("ascend_310p").state_storage, Format::f16);
}

}  // namespace
}  // namespace gdn
