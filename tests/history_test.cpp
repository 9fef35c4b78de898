// The history file: what goes in comes out, older files are brought up to date, and who found what
// first is never forgotten.
#include "ci/night/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/night_example.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string commit_of(size_t night) { return fmt::format("{:040x}", 0xabc0000 + night); }

Night night_of(size_t index) {
  Night night;
  night.id = fmt::format("night-{:04}", index);
  night.commit = commit_of(index);
  night.began = fmt::format("{:04}-01-01T00:00:00Z", 2000 + index);
  night.complete = true;
  night.status = 0;
  return night;
}

NightFinding finding_of(const std::string& diagnosis) {
  return {"layer_within_bound", "delta_rule", "twin", diagnosis, "detail", "case", "replay", 1};
}

// A night that asks layer_within_bound of the twin, and finds these.
Night asking(size_t index, const std::vector<std::string>& diagnoses) {
  Night night = night_of(index);
  night.invariants = {{"twin", "layer_within_bound", 5, diagnoses.size(), 0, 0, 0, 0, 0.5}};
  for (const std::string& diagnosis : diagnoses) night.findings.push_back(finding_of(diagnosis));
  return night;
}

class HistoryFile : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    history_ = opened(path("h.sqlite"));
  }
  void TearDown() override {
    history_.reset();
    ProgramTest::TearDown();
  }
  static std::unique_ptr<History> opened(const std::string& file) {
    std::string why;
    auto history = History::open(file, &why);
    EXPECT_TRUE(history) << why;
    return history;
  }
  void import(const Night& night) {
    std::string why;
    EXPECT_TRUE(history_->import(night, &why)) << why;
  }
  Stored store(const Night& night) {
    std::string why;
    const auto stored = history_->store(night, &why);
    EXPECT_TRUE(stored) << why;
    return stored.value_or(Stored::unchanged);
  }
  std::string refused(const Night& night) {
    std::string why;
    ExitStatus status = exit_ok;
    EXPECT_FALSE(history_->store(night, &why, &status));
    EXPECT_EQ(status, exit_bad_input);
    return why;
  }
  HistoryView view(size_t nights_max = 1000) {
    std::string why;
    auto view = history_->view(nights_max, &why);
    EXPECT_TRUE(view) << why;
    return view.value_or(HistoryView());
  }
  std::string stored_text(const std::string& id) {
    std::string why;
    const auto night = history_->night(id, &why);
    return night ? print(*night) : "none: " + why;
  }
  KnownFinding known(const std::string& diagnosis) {
    for (const KnownFinding& known : view().findings) {
      if (known.latest.diagnosis == diagnosis) return known;
    }
    ADD_FAILURE() << "no group " << diagnosis;
    return {};
  }
  size_t prune(const PruneRule& rule) {
    std::string why;
    const auto pruned = history_->prune(rule, &why);
    EXPECT_TRUE(pruned) << why;
    return pruned ? pruned->size() : 0;
  }

  std::unique_ptr<History> history_;
};

TEST_F(HistoryFile, ANightComesOutAsItWentIn) {
  const Night night = example_night();
  EXPECT_EQ(store(night), Stored::added);
  EXPECT_EQ(stored_text(night.id), print(night));
  history_ = opened(path("h.sqlite"));
  EXPECT_EQ(stored_text(night.id), print(night));
  EXPECT_THAT(stored_text("night-0001"), HasSubstr("it has no night 'night-0001'"));
}

TEST_F(HistoryFile, TextsKeepEveryCharacter) {
  Night night = example_night();
  night.subject = std::string("a\0b", 3) + "\xff";
  import(night);
  EXPECT_EQ(stored_text(night.id), print(night));
}

TEST_F(HistoryFile, ImportingTwiceChangesNothing) {
  Night night = asking(1, {"a"});
  EXPECT_EQ(store(night), Stored::added);
  EXPECT_EQ(store(night), Stored::unchanged);
  EXPECT_THAT(view().nights, SizeIs(1));
  EXPECT_EQ(known("a").nights, 1U);
}

TEST_F(HistoryFile, AWholeNightTakesThePlaceOfOneThatWasCutOff) {
  Night whole = asking(1, {"a"});
  Night cut = asking(1, {});
  cut.complete = false;
  cut.status = 5;
  EXPECT_EQ(store(cut), Stored::added);
  EXPECT_EQ(store(whole), Stored::replaced);
  EXPECT_EQ(store(cut), Stored::unchanged);
  EXPECT_EQ(stored_text(whole.id), print(whole));
  whole.subject = "again";
  EXPECT_EQ(store(whole), Stored::replaced);
  EXPECT_EQ(stored_text(whole.id), print(whole));
}

TEST_F(HistoryFile, WhatCannotBeOneNightIsRefusedWhole) {
  Night night = example_night();
  night.tensors.push_back(night.tensors[0]);
  EXPECT_THAT(refused(night), HasSubstr("two records of the tensor O"));
  night = example_night();
  night.benches.push_back(night.benches[0]);
  EXPECT_THAT(refused(night), HasSubstr("two records of the bench"));
  night = example_night();
  night.shard_count = 2;
  EXPECT_THAT(refused(night), HasSubstr("merge the shards"));
  night = example_night();
  night.stages[0].state = "fine";
  EXPECT_THAT(refused(night), HasSubstr("'state'"));
  EXPECT_THAT(view().nights, IsEmpty());
}

TEST_F(HistoryFile, TheViewIsOfTheLatestNightsInTime) {
  for (const size_t index : {3, 1, 4, 2}) {
    Night night = night_of(index);
    NightTensor tensor = example_night().tensors[0];
    tensor.p99 = 0.1 * static_cast<double>(index);
    night.tensors = {tensor};
    night.benches = {{"m", "b", "us", static_cast<double>(index), 0.5, 9}};
    night.stages = {{"tests", "passed", 0, 1, 2, ""}};
    import(night);
  }
  const HistoryView latest = view(3);
  ASSERT_THAT(latest.nights, SizeIs(3));
  EXPECT_EQ(latest.nights[0].id, "night-0002");
  EXPECT_EQ(latest.nights[2].id, "night-0004");
  EXPECT_THAT(latest.nights[1].stages, SizeIs(1));
  EXPECT_THAT(latest.nights[1].tensors, IsEmpty());
  ASSERT_THAT(latest.trends, SizeIs(1));
  ASSERT_THAT(latest.trends[0].points, SizeIs(3));
  EXPECT_EQ(latest.trends[0].engine, hostile_text);
  EXPECT_EQ(latest.trends[0].points[0].commit, commit_of(2));
  EXPECT_EQ(latest.trends[0].points[2].samples, 4U);
  EXPECT_EQ(latest.trends[0].points[2].undecided, 7U);
  ASSERT_THAT(latest.benches, SizeIs(1));
  EXPECT_EQ(latest.benches[0].points[1].median, 3);
  // 0.3 -> 0.4 is a rise by a third, which is an alarm; infinity stays infinity.
  ASSERT_THAT(latest.changes, SizeIs(1));
  EXPECT_TRUE(latest.changes[0].alarm);
  EXPECT_EQ(latest.changes[0].since_commit, commit_of(4));
  EXPECT_EQ(latest.changes[0].good_commit, commit_of(3));
  // What moved does not depend on how many nights someone looks at.
  EXPECT_THAT(view(1).nights, SizeIs(1));
  EXPECT_THAT(view(1).changes, SizeIs(1));
}

TEST_F(HistoryFile, AFindingIsNewThenKnownThenFixedThenBack) {
  import(asking(1, {}));
  import(asking(2, {"a"}));
  EXPECT_EQ(known("a").state, "new");
  EXPECT_EQ(known("a").last_good_commit, commit_of(1));
  import(asking(3, {"a", "a"}));
  EXPECT_EQ(known("a").state, "known");
  EXPECT_EQ(known("a").first_commit, commit_of(2));
  EXPECT_EQ(known("a").last_commit, commit_of(3));
  EXPECT_EQ(known("a").latest.seen, 2U) << "one group, found twice";
  EXPECT_EQ(known("a").nights, 2U);
  EXPECT_FALSE(known("a").is_back);
  import(asking(4, {}));
  EXPECT_EQ(known("a").state, "fixed");
  EXPECT_EQ(known("a").last_commit, commit_of(3));
  import(asking(5, {"a"}));
  EXPECT_EQ(known("a").state, "known");
  EXPECT_TRUE(known("a").is_back);
  EXPECT_EQ(known("a").first_commit, commit_of(2));
}

TEST_F(HistoryFile, NothingIsFixedThatNobodyAskedAbout) {
  import(asking(1, {"a"}));
  import(night_of(2));  // the engine did not run
  Night refusing = night_of(3);
  refusing.invariants = {{"twin", "layer_within_bound", 0, 0, 7, 1, 2, 9, 0.5},
                         {"simt", "layer_within_bound", 5, 0, 0, 0, 0, 0, 0.5},
                         {"twin", "padding_is_never_read", 5, 0, 0, 0, 0, 0, 0.5}};
  import(refusing);
  Night cut = asking(4, {});
  cut.complete = false;
  import(cut);
  EXPECT_EQ(known("a").state, "known");
  EXPECT_EQ(known("a").last_good_commit, "") << "no night before the first asked";
  import(asking(5, {}));
  EXPECT_EQ(known("a").state, "fixed");
  import(night_of(6));
  EXPECT_EQ(known("a").state, "fixed") << "a night that does not ask changes nothing";
}

TEST_F(HistoryFile, PruningKeepsSinceWhenSomethingFails) {
  import(asking(1, {}));
  import(asking(2, {"a", "b"}));
  import(asking(3, {"a"}));
  import(asking(4, {"a"}));
  import(asking(5, {"a"}));
  const auto facts = [&](const std::string& diagnosis) {
    const KnownFinding k = known(diagnosis);
    return std::vector<std::string>{k.state,
                                    k.first_night,
                                    k.first_commit,
                                    k.first_began,
                                    k.last_night,
                                    k.last_good_commit,
                                    fmt::format("{}", k.nights),
                                    k.latest.case_text};
  };
  const auto a = facts("a"), b = facts("b");
  EXPECT_THAT(a, ElementsAre("known", "night-0002", commit_of(2), "2002-01-01T00:00:00Z",
                             "night-0005", commit_of(1), "4", "case"));
  EXPECT_EQ(b[0], "fixed");
  EXPECT_EQ(prune({2, ""}), 3U);
  EXPECT_THAT(view().nights, SizeIs(2));
  EXPECT_EQ(facts("a"), a);
  EXPECT_EQ(facts("b"), b);
  EXPECT_EQ(prune({0, "2005-01-01"}), 1U);
  EXPECT_EQ(facts("a"), a);
  EXPECT_EQ(prune({2, ""}), 0U);
  EXPECT_EQ(store(asking(3, {"a"})), Stored::pruned_before);
  EXPECT_EQ(facts("a"), a);
  EXPECT_THAT(stored_text("night-0003"), HasSubstr("no night"));
  import(asking(6, {}));
  EXPECT_EQ(known("a").state, "fixed");
}

// A file as version 1 left it, but for indices.
constexpr const char* version_1_file = R"sql(
PRAGMA journal_mode = WAL;
CREATE TABLE night(key INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, "commit" TEXT NOT NULL,
  "subject" TEXT NOT NULL, "began" TEXT NOT NULL, "command" TEXT NOT NULL, "seed" TEXT NOT NULL,
  "shard_index" INTEGER NOT NULL, "shard_count" INTEGER NOT NULL, "cpu" TEXT NOT NULL,
  "os" TEXT NOT NULL, "compiler" TEXT NOT NULL, "cores" INTEGER NOT NULL, "gpu" TEXT NOT NULL,
  "driver" TEXT NOT NULL, complete INTEGER NOT NULL, status INTEGER NOT NULL) STRICT;
CREATE INDEX night_in_time ON night("began", "id");
CREATE TABLE stage(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "name" TEXT NOT NULL, "state" TEXT NOT NULL, "status" INTEGER NOT NULL, "seconds" REAL NOT NULL,
  "budget_seconds" REAL NOT NULL, "why" TEXT NOT NULL) STRICT;
CREATE TABLE gap(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "what" TEXT NOT NULL, "why" TEXT NOT NULL) STRICT;
CREATE TABLE tensor(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "panel" TEXT NOT NULL, "engine" TEXT NOT NULL, "operator" TEXT NOT NULL,
  "tensor" TEXT NOT NULL, "samples" INTEGER NOT NULL, "undecided" INTEGER NOT NULL,
  "p50" REAL NOT NULL, "p99" REAL NOT NULL, "worst" REAL NOT NULL, "digest" TEXT NOT NULL,
  "ratios" TEXT NOT NULL, UNIQUE(night, "panel", "engine", "operator", "tensor")) STRICT;
CREATE TABLE invariant(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "engine" TEXT NOT NULL, "invariant" TEXT NOT NULL, "holds" INTEGER NOT NULL,
  "fails" INTEGER NOT NULL, "undecided" INTEGER NOT NULL, "suspicious" INTEGER NOT NULL,
  "engine_errors" INTEGER NOT NULL, "not_served" INTEGER NOT NULL,
  "worst_ratio" REAL NOT NULL) STRICT;
CREATE TABLE bench(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "machine" TEXT NOT NULL, "name" TEXT NOT NULL, "unit" TEXT NOT NULL, "median" REAL NOT NULL,
  "fastest" REAL NOT NULL, "slowest" REAL NOT NULL,
  UNIQUE(night, "machine", "name", "unit")) STRICT;
CREATE TABLE finding(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "invariant" TEXT NOT NULL, "operator" TEXT NOT NULL, "engine" TEXT NOT NULL,
  "diagnosis" TEXT NOT NULL, "detail" TEXT NOT NULL, "case" TEXT NOT NULL,
  "replay" TEXT NOT NULL, "seen" INTEGER NOT NULL) STRICT;
CREATE TABLE mutant(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "name" TEXT NOT NULL, "operator" TEXT NOT NULL, "state" TEXT NOT NULL,
  "killed_by" TEXT NOT NULL) STRICT;
CREATE TABLE fuzz(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "target" TEXT NOT NULL, "executions" INTEGER NOT NULL, "seconds" REAL NOT NULL,
  "corpus_inputs" INTEGER NOT NULL, "findings" INTEGER NOT NULL) STRICT;
CREATE TABLE coverage(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "what" TEXT NOT NULL, "covered" INTEGER NOT NULL, "total" INTEGER NOT NULL) STRICT;
INSERT INTO night VALUES
  (1, 'night-0001', '000000000000000000000000000000000abc0001', 's', '2001-01-01T00:00:00Z', 'c',
   'x', 1, 1, '', '', '', 2, '', '', 1, 0),
  (2, 'night-0002', '000000000000000000000000000000000abc0002', 's', '2002-01-01T00:00:00Z', 'c',
   'x', 1, 1, '', '', '', 2, '', '', 1, 1);
INSERT INTO invariant VALUES(1, 'twin', 'layer_within_bound', 5, 0, 0, 0, 0, 0, 0.5),
  (1, 'simt', 'layer_within_bound', 0, 0, 0, 0, 0, 9, 0.0),
  (2, 'twin', 'layer_within_bound', 4, 1, 0, 0, 0, 0, 1.5);
INSERT INTO finding VALUES
  (2, 'layer_within_bound', 'delta_rule', 'twin', 'a', 'detail', 'case', 'replay', 1);
PRAGMA application_id = 1685090918;
PRAGMA user_version = 1;
)sql";

void run_sql(const std::string& file, const std::string& statements) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST_F(HistoryFile, AFileOfVersion1IsBroughtUpToDate) {
  run_sql(path("old.sqlite"), version_1_file);
  history_ = opened(path("old.sqlite"));
  EXPECT_THAT(view().nights, SizeIs(2));
  const KnownFinding a = known("a");
  EXPECT_EQ(a.fingerprint, fingerprint(finding_of("a")));
  EXPECT_EQ(a.state, "new");
  EXPECT_EQ(a.first_commit, commit_of(2));
  EXPECT_EQ(a.last_good_commit, commit_of(1));
  // As one that was made by this version.
  import(asking(3, {}));
  EXPECT_EQ(known("a").state, "fixed");
  EXPECT_EQ(prune({1, ""}), 2U);
  EXPECT_EQ(known("a").state, "fixed");
  history_ = opened(path("old.sqlite"));
  EXPECT_THAT(view().nights, SizeIs(1));
}

TEST_F(HistoryFile, WhatIsNoHistoryIsRefusedAndLeftAlone) {
  const auto refusal = [&](const std::string& name, ExitStatus want) {
    std::string why;
    ExitStatus status = exit_ok;
    EXPECT_FALSE(History::open(path(name), &why, &status));
    EXPECT_EQ(status, want) << why;
    EXPECT_THAT(why, HasSubstr(name));
    return why;
  };
  write("text", "this is a text that is long enough to be taken for a database, or is it not?\n");
  EXPECT_THAT(refusal("text", exit_bad_input), HasSubstr("no database of SQLite"));
  run_sql(path("other"), "CREATE TABLE mine(x); PRAGMA user_version = 1");
  const std::string before = content("other");
  EXPECT_THAT(refusal("other", exit_bad_input), HasSubstr("another program"));
  EXPECT_EQ(content("other"), before);
  run_sql(path("newer"), "PRAGMA application_id = 1685090918; PRAGMA user_version = 99");
  EXPECT_THAT(refusal("newer", exit_bad_input), HasSubstr("version 99, this program knows those"));
  EXPECT_THAT(refusal(".", exit_bad_input), HasSubstr("it is a folder"));
  write("file", "");
  refusal("file/h.sqlite", exit_infrastructure);
}

TEST_F(HistoryFile, AFolderIsMadeForIt) {
  history_ = opened(path("new/folder/h.sqlite"));
  import(night_of(1));
  EXPECT_THAT(view().nights, SizeIs(1));
}

}  // namespace
}  // namespace gdn
