// deltaproof report: what it reads, what it writes, and what it refuses.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/markup.h"
#include "tests/night_example.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

class ReportCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Night night = example_night();
    write("second.jsonl", print(night));
    night.id = "20261129T020000Z-aaaaaaaaaaaa";
    night.began = "2026-11-29T02:00:00Z";
    night.commit = std::string(40, 'a');
    night.findings.clear();
    write("first.jsonl", print(night));
  }
  Ran report(const std::string& arguments) const {
    return run("report " + arguments + " --out " + path("out"));
  }
};

TEST_F(ReportCli, WritesEveryFormatOfOneNight) {
  const Ran ran = report(path("second.jsonl"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("fails: Something is wrong: 1 new finding"));
  EXPECT_EQ(read_html(content("out/report.html")).why, "");
  EXPECT_EQ(read_xml(content("out/junit.xml")).why, "");
  EXPECT_THAT(content("out/summary.md"), HasSubstr("# deltaproof: fails"));
  EXPECT_THAT(content("out/findings.md"), HasSubstr("## new: layer_within_bound fails on twin"));
  const auto sarif = nlohmann::json::parse(content("out/findings.sarif"));
  EXPECT_EQ(sarif["runs"][0]["results"].size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(content("out/night.json"))["nights"].size(), 1U);
}

TEST_F(ReportCli, AHistorySaysWhatIsNew) {
  const std::string history = path("history.sqlite");
  const Ran imported = run("history import --db " + history + " " + path("first.jsonl") + " " +
                           path("second.jsonl"));
  ASSERT_EQ(imported.status, 0) << imported.output;
  for (const std::string& night : {std::string(), path("second.jsonl")}) {
    const Ran ran = report(night + " --history " + history);
    EXPECT_EQ(ran.status, 0) << ran.output;
    const auto json = nlohmann::json::parse(content("out/night.json"));
    EXPECT_EQ(json["nights"].size(), 2U);
    EXPECT_EQ(json["findings"][0]["state"], "new");
    EXPECT_EQ(json["findings"][0]["last_good_commit"], std::string(40, 'a'));
  }
}

TEST_F(ReportCli, TheSameNightGivesTheSameBytes) {
  ASSERT_EQ(report(path("second.jsonl")).status, 0);
  const std::string once = content("out/report.html") + content("out/junit.xml");
  ASSERT_EQ(report(path("second.jsonl")).status, 0);
  EXPECT_EQ(content("out/report.html") + content("out/junit.xml"), once);
}

TEST_F(ReportCli, RefusesWhatItCannotReportOn) {
  write("no_night.jsonl", "{\"record\":\"nothing\"}\n");
  for (const auto& [arguments, words] : {std::pair{std::string(), "name the records of a night"},
                                         {path("absent.jsonl"), "absent.jsonl: cannot be read"},
                                         {path(""), "cannot be read"},
                                         {path("no_night.jsonl"), "no_night.jsonl: "},
                                         {"--history " + path("absent.sqlite"), "absent.sqlite"},
                                         {path("second.jsonl") + " --nights 0", "--nights"}}) {
    const Ran ran = report(arguments);
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(words));
  }
}

TEST_F(ReportCli, ANightThatIsNotTheLatestOfTheHistoryIsRefused) {
  const std::string history = path("history.sqlite");
  ASSERT_EQ(run("history import --db " + history + " " + path("second.jsonl")).status, 0);
  const Ran ran = report(path("first.jsonl") + " --history " + history);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("its latest night is 20261130T020000Z-0123456789ab and not "
                                    "20261129T020000Z-aaaaaaaaaaaa"));
}

TEST_F(ReportCli, AFolderThatCannotBeWrittenIsInfrastructure) {
  write("out", "a file, where the folder should be");
  EXPECT_EQ(report(path("second.jsonl")).status, 5);
}

TEST_F(ReportCli, NothingThatIsReadIsOverwritten) {
  write("out/night.json", print(example_night()));
  const Ran ran = report(path("out/night.json"));
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_EQ(content("out/night.json"), print(example_night()));
}

}  // namespace
}  // namespace gdn
