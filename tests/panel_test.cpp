// The panel repeats itself on a stable engine, and a change of one bit is seen in its digest.
#include "ci/night/panel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ci/case_files.h"

namespace gdn {
namespace {

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> found = find_engine(engine, &why);
  EXPECT_TRUE(found) << why;
  return Lab(*found);
}

std::vector<CaseFile> cases() {
  std::vector<CaseFile> files;
  std::string why;
  EXPECT_TRUE(
      read_cases_below(std::string(SOURCE_DIR "/corpus/panel/") + panel_version, files, &why))
      << why;
  return files;
}

std::vector<NightTensor> rows_of(const std::string& engine, size_t cases_max) {
  const Lab lab = lab_of(engine);
  std::vector<PanelSample> samples;
  for (const CaseFile& file : cases()) {
    if (cases_max-- == 0) break;
    Verdict served;
    for (PanelSample& sample : panel_samples(file.content, lab, &served)) {
      samples.push_back(std::move(sample));
    }
    EXPECT_TRUE(served.holds()) << file.path << ": " << served.detail;
  }
  return panel_rows(engine, samples);
}

const NightTensor* row_of(const std::vector<NightTensor>& rows, const std::string& tensor) {
  for (const NightTensor& row : rows) {
    if (row.tensor == tensor) return &row;
  }
  return nullptr;
}

// Rows of known samples: of 200 the 99th percentile is number 198, not the second largest.
TEST(Panel, RowsAreTheNearestRanksOfTheirSamples) {
  std::vector<PanelSample> samples;
  for (int i = 1; i <= 200; ++i) samples.push_back({"conv", "CONV", true, i / 400.0, 0, 1});
  samples.push_back({"conv", "CONV", false, 0, 7, 1});
  const std::vector<NightTensor> rows = panel_rows("e", samples);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].samples, 200U);
  EXPECT_EQ(rows[0].undecided, 7U);
  EXPECT_EQ(rows[0].p50, 100 / 400.0);
  EXPECT_EQ(rows[0].p99, 198 / 400.0);
  EXPECT_EQ(rows[0].worst, 200 / 400.0);
  EXPECT_EQ(rows[0].panel, panel_version);
}

TEST(Panel, RowsStandInTheOrderOfOperators) {
  const std::vector<PanelSample> samples = {{"recurrent", "o", true, 0, 0, 1},
                                            {"out_proj", "OUT", true, 0, 0, 1},
                                            {"in_proj", "QKV", true, 0, 0, 1},
                                            {"gates", "G", true, 0, 0, 1}};
  std::string order;
  for (const NightTensor& row : panel_rows("e", samples)) order += row.op + " ";
  EXPECT_EQ(order, "in_proj gates out_proj recurrent ");
}

TEST(Panel, EveryTensorHasEnoughSamplesForAPercentile) {
  const std::vector<NightTensor> rows = rows_of("twin", SIZE_MAX);
  ASSERT_EQ(rows.size(), static_cast<size_t>(tensor_count) + 2);
  for (const NightTensor& row : rows) {
    EXPECT_LE(row.worst, 1) << row.tensor;
    // A state is one sample a case where the recurrence is alone.
    const bool is_lone_state = row.op == "recurrent" && row.tensor == "S";
    EXPECT_GE(row.samples, is_lone_state ? 3U : 100U) << row.tensor;
  }
}

TEST(Panel, AStableEngineRepeatsItself) {
  const std::vector<NightTensor> first = rows_of("twin", 3);
  const std::vector<NightTensor> again = rows_of("twin", 3);
  ASSERT_EQ(first.size(), again.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].digest, again[i].digest);
    EXPECT_EQ(first[i].p99, again[i].p99);
  }
}

// A fault of the conv changes what is behind it, and nothing that is before.
TEST(Panel, AFaultIsSeenFromItsOperatorOn) {
  const std::vector<NightTensor> right = rows_of("twin", 3);
  const std::vector<NightTensor> wrong = rows_of("mutant:conv_taps_flipped", 3);
  EXPECT_EQ(row_of(right, "QKV")->digest, row_of(wrong, "QKV")->digest);
  EXPECT_NE(row_of(right, "CONV")->digest, row_of(wrong, "CONV")->digest);
  EXPECT_NE(row_of(right, "OUT")->digest, row_of(wrong, "OUT")->digest);
  EXPECT_GT(row_of(wrong, "CONV")->worst, 1);
  EXPECT_LE(row_of(wrong, "OUT")->worst, 1);
}

}  // namespace
}  // namespace gdn
