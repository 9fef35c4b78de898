// `deltaproof history` as a script meets it: statuses, words, two writers at a time, a full disk,
// and what is left when it is killed at any moment.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "ci/night/history.h"
#include "reference/rng.h"
#include "tests/night_example.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string commit_of(size_t night) { return fmt::format("{:040x}", mix64(night)); }

Night night_of(size_t index, double p99 = 0.5) {
  Night night = example_night();
  night.id = fmt::format("night-{:04}", index);
  night.commit = commit_of(index);
  night.subject = fmt::format("work {}", index);
  night.began = fmt::format("{:04}-01-01T00:00:00Z", 2000 + index);
  night.tensors[0].engine = "twin";
  night.tensors[0].p99 = p99;
  night.tensors[0].worst = 2 * p99;
  night.tensors[0].digest = fmt::format("{:016x}", static_cast<uint64_t>(1000 * p99));
  return night;
}

// With as many tensors as make it `tensors` pages or so to write.
Night large_night(size_t index, size_t tensors) {
  Night night = night_of(index);
  night.tensors.resize(tensors, night.tensors[0]);
  for (size_t i = 0; i < tensors; ++i) night.tensors[i].tensor = fmt::format("tensor {}", i);
  return night;
}

class HistoryCli : public ProgramTest {
 protected:
  std::string db() const { return " --db " + path("h.sqlite"); }
  Ran history(const std::string& arguments) const { return run("history " + arguments + db()); }
  void import(const Night& night) const {
    write("one.jsonl", print(night));
    EXPECT_EQ(history("import " + path("one.jsonl")).status, 0);
  }
  std::string integrity() const {
    sqlite3* database = nullptr;
    sqlite3_open(path("h.sqlite").c_str(), &database);
    std::string words;
    sqlite3_exec(
        database, "PRAGMA integrity_check",
        [](void* to, int, char** values, char**) {
          *static_cast<std::string*>(to) += values[0];
          return 0;
        },
        &words, nullptr);
    sqlite3_close(database);
    return words;
  }
};

TEST_F(HistoryCli, WhatWasImportedIsListedAndExported) {
  const std::string all = print(night_of(1)) + print(night_of(2));
  write("all.jsonl", all);
  write("third.jsonl", print(night_of(3)));
  const std::string import = "import " + path("third.jsonl") + " " + path("all.jsonl");
  const Ran imported = history(import);
  EXPECT_EQ(imported.status, 0);
  EXPECT_EQ(imported.output, "night-0003: added\nnight-0001: added\nnight-0002: added\n");
  EXPECT_THAT(history(import).output, HasSubstr("night-0001: is there already\n"));

  EXPECT_EQ(history("export --all").output, all + print(night_of(3)));
  EXPECT_EQ(history("export").output, print(night_of(3)));
  EXPECT_EQ(history("export --night night-0002").output, print(night_of(2)));
  const Ran none = history("export --night night-0009");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.output, HasSubstr("no night 'night-0009'"));
  EXPECT_EQ(history("export --all --night night-0001").status, 2);

  const json list = json::parse(history("list --json").output);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].at("id"), "night-0001");
  EXPECT_EQ(list[2].at("commit"), commit_of(3));
  EXPECT_EQ(list[2].at("findings"), 1);
  EXPECT_EQ(list[2].at("alarms"), 0);
  EXPECT_EQ(list[2].at("status"), 1);
  EXPECT_THAT(history("list").output, AllOf(HasSubstr("night-0002"), HasSubstr("work 3")));
}

TEST_F(HistoryCli, WhatIsPrunedIsSaid) {
  for (const size_t index : {1, 2, 3}) import(night_of(index));
  for (const char* usage : {"prune", "prune --keep 0", "prune --keep 1 --before 2001-01-01",
                            "prune --before yesterday"}) {
    EXPECT_EQ(history(usage).status, 2) << usage;
  }
  const Ran pruned = history("prune --before 2002-06-01");
  EXPECT_EQ(pruned.status, 0);
  EXPECT_THAT(pruned.output,
              AllOf(HasSubstr("night-0001: removed"), HasSubstr("night-0002: removed"),
                    HasSubstr("2 nights removed"), Not(HasSubstr("night-0003"))));
  EXPECT_EQ(json::parse(history("list --json").output).size(), 1U);
  EXPECT_THAT(history("prune --keep 1").output, HasSubstr("0 nights removed"));
}

TEST_F(HistoryCli, DriftIsSaidAndAnAlarmIsAStatus) {
  import(night_of(1, 0.2));
  EXPECT_THAT(history("drift").output, HasSubstr("It is the first"));
  EXPECT_EQ(history("drift").status, 0);
  import(night_of(2, 0.2));
  EXPECT_THAT(history("drift").output, HasSubstr("Nothing moved."));
  import(night_of(3, 0.24));
  const Ran named = history("drift");
  EXPECT_EQ(named.status, 0);
  EXPECT_THAT(named.output, HasSubstr("delta_rule O on twin: its numbers moved"));
  import(night_of(4, 0.25));
  const Ran alarm = history("drift");
  EXPECT_EQ(alarm.status, 1);
  EXPECT_THAT(alarm.output, HasSubstr("ALARM: delta_rule O on twin: p99 rose 1.25x in sum since"));
  EXPECT_THAT(alarm.output, HasSubstr("too few nights"));
  const Ran as_json = history("drift --json");
  EXPECT_EQ(as_json.status, 1);
  const json drift = json::parse(as_json.output);
  EXPECT_EQ(drift.at("night"), "night-0004");
  EXPECT_EQ(drift.at("changes").at(0).at("alarm"), true);
  EXPECT_EQ(drift.at("changes").at(0).at("p99_after"), 0.25);
  EXPECT_EQ(drift.at("changes").at(0).at("since_commit"), commit_of(4));
  EXPECT_EQ(drift.at("benches").at(0).at("detectable_step"), 0);
  EXPECT_EQ(json::parse(history("list --json").output).at(3).at("alarms"), 1);
  import(night_of(5, 0.25));
  EXPECT_EQ(history("drift").status, 0) << "once";
}

TEST_F(HistoryCli, BadInputIsRefusedBeforeAnythingIsStored) {
  for (const char* query : {"list", "drift", "export", "prune --keep 1"}) {
    const Ran none = history(query);
    EXPECT_EQ(none.status, 2) << query;
    EXPECT_THAT(none.output, HasSubstr("there is no history yet"));
  }
  write("good.jsonl", print(night_of(1)));
  write("bad.jsonl", print(night_of(2)) + print(night_of(3)) + "garbage\n");
  const size_t lines = 13;  // of one night
  const Ran bad = history("import " + path("good.jsonl") + " " + path("bad.jsonl"));
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.output, HasSubstr(fmt::format("bad.jsonl: the night from line {} on: line {}: ",
                                                lines + 1, lines + 1)));
  EXPECT_FALSE(std::filesystem::exists(path("h.sqlite")));
  EXPECT_EQ(history("import " + path("nowhere.jsonl")).status, 2);
  EXPECT_EQ(history("import " + path("")).status, 2);
  write("h.sqlite", std::string(4096, 'x'));
  const Ran other = history("import " + path("good.jsonl"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.output, HasSubstr("no database of SQLite"));
  EXPECT_EQ(history("").status, 2);
  EXPECT_EQ(run("history import --db /proc/deltaproof/h.sqlite " + path("good.jsonl")).status, 5);
}

// The limit on a file's size stands in for a disk that is full.
TEST_F(HistoryCli, AFullDiskIsSaidAndNothingIsHalfStored) {
  import(night_of(1));
  write("large.jsonl", print(large_night(2, 5000)));
  const std::string line =
      std::string(DELTAPROOF) + " history import " + path("large.jsonl") + db() + " 2>&1";
  const Ran full = run_line("trap '' XFSZ; ulimit -f 1000; " + line);
  EXPECT_EQ(full.status, 5) << full.output;
  EXPECT_THAT(full.output, HasSubstr("cannot be"));
  EXPECT_EQ(integrity(), "ok");
  EXPECT_EQ(json::parse(history("list --json").output).size(), 1U);
  EXPECT_EQ(run_line(line).status, 0);
  EXPECT_EQ(history("export --night night-0002").output, content("large.jsonl"));
}

TEST_F(HistoryCli, TwoWritersLoseNothing) {
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(path("h.sqlite"));
    std::string one, two;
    // Night 10 is written by both.
    for (size_t i = 1; i <= 10; ++i) one += print(night_of(i));
    for (size_t i = 10; i <= 20; ++i) two += print(night_of(i));
    write("one.jsonl", one);
    write("two.jsonl", two);
    const std::string import = std::string(DELTAPROOF) + " history import" + db() + " ";
    const Ran ran = run_line("(" + import + path("one.jsonl") + " & first=$!; " + import +
                             path("two.jsonl") + " || exit 90; wait $first || exit 91) 2>&1");
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(json::parse(history("list --json").output).size(), 20U);
    EXPECT_EQ(integrity(), "ok");
  }
}

// An import, until it has acknowledged so many nights and a little longer; then it is killed. All
// that it acknowledged.
std::string killed_import(const std::string& file, const std::string& db, size_t nights,
                          std::chrono::microseconds longer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(DELTAPROOF, DELTAPROOF, "history", "import", file.c_str(), "--db", db.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 4096> buffer;
  const auto lines = [&] {
    return static_cast<size_t>(std::count(said.begin(), said.end(), '\n'));
  };
  ssize_t count = 1;
  while (lines() < nights && (count = read(ends[0], buffer.data(), buffer.size())) > 0) {
    said.append(buffer.data(), static_cast<size_t>(count));
  }
  std::this_thread::sleep_for(longer);
  kill(child, SIGKILL);
  while ((count = read(ends[0], buffer.data(), buffer.size())) > 0) {
    said.append(buffer.data(), static_cast<size_t>(count));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return said;
}

TEST_F(HistoryCli, KilledAtAnyMomentItLosesTheNightInProgressAtMost) {
  constexpr size_t rounds = 20, nights_a_round = 5;
  Rng rng(42);
  std::map<std::string, std::string> texts;  // by id
  std::set<std::string> acknowledged;
  size_t cut_short = 0;
  for (size_t round = 0; round < rounds; ++round) {
    std::string file;
    for (size_t i = 0; i < nights_a_round; ++i) {
      const Night night = large_night(round * nights_a_round + i, 100);
      file += texts[night.id] = print(night);
    }
    write("round.jsonl", file);
    // Before the first: while the file is made or opened. Storing such a night takes some
    // milliseconds.
    const auto nights = static_cast<size_t>(rng.range(0, nights_a_round - 1));
    const std::chrono::microseconds longer(rng.range(0, nights == 0 ? 100'000 : 10'000));
    std::stringstream said(killed_import(path("round.jsonl"), path("h.sqlite"), nights, longer));
    std::string line;
    size_t said_nights = 0;
    for (; std::getline(said, line); ++said_nights) {
      acknowledged.insert(line.substr(0, line.find(':')));
    }
    cut_short += said_nights < nights_a_round;

    std::string why;
    const auto history = History::open(path("h.sqlite"), &why);
    ASSERT_TRUE(history) << why;
    EXPECT_EQ(integrity(), "ok");
    const auto view = history->view(SIZE_MAX, &why);
    ASSERT_TRUE(view) << why;
    std::set<std::string> stored;
    for (const Night& night : view->nights) stored.insert(night.id);
    for (const std::string& id : acknowledged) EXPECT_TRUE(stored.contains(id)) << id;
    for (const std::string& id : stored) {
      const auto night = history->night(id, &why);
      ASSERT_TRUE(night) << why;
      EXPECT_EQ(print(*night), texts.at(id)) << "not whole: " << id;
    }
    // What was committed and could not be said any more.
    acknowledged = stored;
  }
  EXPECT_GT(cut_short, rounds / 2) << "the imports ended before they were killed";
}

}  // namespace
}  // namespace gdn
