// A night's records: what is written is what is read, and what is no record is refused by its line.
#include "ci/night/night.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/night_example.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refused(const std::string& text) {
  std::string why;
  EXPECT_FALSE(parse_night(text, &why)) << text;
  return why;
}

Night read(const std::string& text) {
  std::string why;
  const std::optional<Night> night = parse_night(text, &why);
  EXPECT_TRUE(night) << why;
  return night.value_or(Night());
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string header() {
  Night night = example_night();
  Night alone;
  alone.id = night.id;
  alone.commit = night.commit;
  alone.began = night.began;
  return print(alone);
}

// Every key of the schema is in the example with a value that no other key has by default, so that
// one that is written and not read, or the reverse, shows in the second print.
TEST(Night, WhatIsWrittenIsRead) {
  const Night night = example_night();
  const std::string text = print(night);
  const Night again = read(text);
  EXPECT_EQ(print(again), text);
  EXPECT_EQ(again.subject, hostile_text);
  EXPECT_EQ(again.machine.driver, "570.1");
  EXPECT_EQ(again.stages[1].state, "timed_out");
  EXPECT_EQ(again.tensors[0].p99, night.tensors[0].p99);
  EXPECT_EQ(again.tensors[0].worst, std::numeric_limits<double>::infinity());
  EXPECT_EQ(again.tensors[0].ratios.powers_of_two, night.tensors[0].ratios.powers_of_two);
  EXPECT_EQ(again.findings[0].case_text, night.findings[0].case_text);
  EXPECT_EQ(again.findings[0].index, 17U);
  EXPECT_EQ(again.mutants[0].killed_by, night.mutants[0].killed_by);
  EXPECT_EQ(again.fuzz[0].executions, uint64_t{1} << 40);
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.status, 1);
}

TEST(Night, EveryRecordIsOneLineOfUtf8) {
  Night night = example_night();
  night.subject = "not \xff UTF-8 \xc3";
  night.benches[0].median = std::nan("");
  const std::string text = print(night);
  // The header, two stages, two mutants, one of each of the other seven kinds, the end.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13);
  EXPECT_EQ(read(text).subject, "not \xef\xbf\xbd UTF-8 \xef\xbf\xbd");
  EXPECT_EQ(read(text).benches[0].median, std::numeric_limits<double>::infinity());
}

// Cut at every byte: never an error once the header is there, never complete without the last line.
TEST(Night, ACutAnywhereKeepsTheRecordsBeforeIt) {
  const std::string text = print(example_night());
  const size_t header_bytes = text.find('\n');
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    const std::string cut = text.substr(0, bytes);
    std::string why;
    const std::optional<Night> night = parse_night(cut, &why);
    if (bytes < header_bytes) {
      EXPECT_FALSE(night) << bytes;
      EXPECT_THAT(why, StartsWith("line 1: "));
      continue;
    }
    ASSERT_TRUE(night) << bytes << ": " << why;
    // Only the end of the last line may be missing.
    EXPECT_EQ(night->complete, bytes + 1 == text.size()) << bytes;
    EXPECT_THAT(text, StartsWith(print(*night).substr(0, cut.find_last_of('\n') + 1)));
    EXPECT_EQ(night->status, night->complete ? 1 : 5);
  }
}

TEST(Night, WhatIsNoRecordIsNamedByItsLine) {
  const std::string good = header();
  EXPECT_THAT(refused(""), StartsWith("line 1: "));
  EXPECT_THAT(refused("\n"), StartsWith("line 1: "));
  EXPECT_THAT(refused(good + "garbage\n"), StartsWith("line 2: no object of JSON"));
  EXPECT_THAT(refused(good + "\n"), StartsWith("line 2: "));
  EXPECT_THAT(refused(good + "[1]\n"), StartsWith("line 2: "));
  EXPECT_THAT(refused(good + "{\"record\":\"gap\",\"what\":\"\xff\",\"why\":\"\"}\n"),
              StartsWith("line 2: "));
  EXPECT_THAT(refused(good + good), StartsWith("line 2: a second header"));
  EXPECT_THAT(refused(good + "{\"record\":\"star\"}\n"),
              HasSubstr("no record is of kind \"star\""));
  EXPECT_THAT(refused(good + "{\"record\":7}\n"), HasSubstr("no record is of kind 7"));
  EXPECT_THAT(refused(good + "{}\n"), HasSubstr("no record is of kind null"));
  EXPECT_THAT(refused("{\"record\":\"gap\",\"what\":\"\",\"why\":\"\"}\n" + good),
              StartsWith("line 1: a night begins with its header"));
  const std::string gap = "{\"record\":\"gap\",\"what\":\"x\",\"why\":\"y\"}\n";
  EXPECT_THAT(refused(good + "{\"record\":\"end\",\"status\":0}\n" + gap),
              StartsWith("line 3: the record 'end' was to be the last line"));
  EXPECT_THAT(refused(good + "{\"record\":" + std::string(1 << 20, '[')), StartsWith("line 2: "));
  EXPECT_THAT(refused(good + "{\"record\":" + std::string(1 << 20, '[') + "\n"),
              HasSubstr("too deep"));
}

TEST(Night, AnotherVersionIsRefusedAndSaysSo) {
  const std::string later = with(header(), "\"version\":1", "\"version\":2");
  EXPECT_THAT(refused(later), HasSubstr("it is of version 2, 1 is read"));
  const std::string none = with(header(), "\"version\":1,", "");
  EXPECT_THAT(refused(none), HasSubstr("it is of version null"));
}

TEST(Night, KeysThatAReaderDoesNotKnowAreSkipped) {
  const std::string text = print(example_night());
  EXPECT_EQ(print(read(with(text, "\"seed\":", "\"mood\":[1],\"seed\":"))), text);
}

TEST(Night, EveryValueIsOfItsKind) {
  const std::string text = print(example_night());
  const auto why = [&](const std::string& from, const std::string& to) {
    return refused(with(text, from, to));
  };
  EXPECT_THAT(why("\"cores\":2", "\"cores\":-2"), HasSubstr("'cores': expected a whole number"));
  EXPECT_THAT(why("\"cores\":2", "\"cores\":2.5"), HasSubstr("'cores'"));
  EXPECT_THAT(why("\"cores\":2", "\"cores\":3000000000"), HasSubstr("'cores'"));
  EXPECT_THAT(why("\"cores\":2,", ""), HasSubstr("the key 'cores' is missing"));
  EXPECT_THAT(why("\"p50\":0.1", "\"p50\":-0.1"), HasSubstr("tensor: 'p50'"));
  EXPECT_THAT(why("\"p50\":0.1", "\"p50\":\"nan\""), HasSubstr("got \"nan\""));
  EXPECT_THAT(why("\"p50\":0.1", "\"p50\":NaN"), StartsWith("line 5: "));
  EXPECT_THAT(why("\"p50\":0.1", "\"p50\":1e999"), StartsWith("line 5: "));
  EXPECT_THAT(why("\"passed\"", "\"fine\""), HasSubstr("expected one of passed, failed,"));
  EXPECT_THAT(why("\"killed\"", "\"dead\""), HasSubstr("mutant: 'state'"));
  EXPECT_THAT(why("00ff00ff00ff00ff", "00FF00FF00FF00FF"), HasSubstr("16 hexadecimal digits"));
  EXPECT_THAT(why("567-dirty", "567-clean"), HasSubstr("'commit'"));
  EXPECT_THAT(why("2026-11-30T02:00:00Z", "2026-11-30 02:00:00"), HasSubstr("'began'"));
  EXPECT_THAT(why("20261130T", "../1130T"), HasSubstr("'id'"));
  EXPECT_THAT(why("\"shard_count\":1", "\"shard_count\":0"), HasSubstr("'shard_index'"));
  EXPECT_THAT(why("[\"layer_within_bound\",\"x\"]", "\"x\""), HasSubstr("a list of texts"));
  EXPECT_THAT(why("[\"layer_within_bound\",\"x\"]", "[1]"), HasSubstr("expected text"));
  EXPECT_THAT(why("\"infinite\":1", "\"infinite\":-1"), HasSubstr("'ratios': a count"));
  EXPECT_THAT(why("\"-4\":1", "\"x\":1"), HasSubstr("'x' is no exponent"));
}

TEST(Night, AFingerprintDependsOnTheGroupAlone) {
  const NightFinding finding = example_night().findings[0];
  NightFinding other = finding;
  other.detail = "another case", other.case_text = "", other.replay = "", other.seen = 9;
  EXPECT_EQ(fingerprint(other), fingerprint(finding));
  EXPECT_EQ(fingerprint(finding).size(), 16U);
  for (std::string NightFinding::*part : {&NightFinding::invariant, &NightFinding::op,
                                          &NightFinding::engine, &NightFinding::diagnosis}) {
    NightFinding moved = finding;
    (moved.*part) += "x";
    EXPECT_NE(fingerprint(moved), fingerprint(finding));
  }
  NightFinding shifted = finding;
  shifted.invariant += shifted.op, shifted.op = "";
  EXPECT_NE(fingerprint(shifted), fingerprint(finding));
}

// Published: code hosts keep them for years.
TEST(Night, FingerprintsStayWhatTheyAre) {
  EXPECT_EQ(fingerprint(example_night().findings[0]), "c6f046502ad0f93b");
}

TEST(Night, AFingerprintSurvivesBytesThatAreNoText) {
  Night night = example_night();
  night.findings[0].engine = "\xff.so";
  EXPECT_EQ(fingerprint(read(print(night)).findings[0]), fingerprint(night.findings[0]));
}

}  // namespace
}  // namespace gdn
