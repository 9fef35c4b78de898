// ci/nightly by its stages, what it keeps and what it returns, in a tree whose judging commands
// answer at once; records, history and report are the program's own. And what runs it on other
// people's machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "ci/night/history.h"
#include "reference/rng.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Judges as $CHECK says. The rest goes to the program.
constexpr const char* stand_in = R"sh(#!/usr/bin/env bash
command=$1 json='' records=''
previous=''
for argument; do
  [[ $previous != --json ]] || json=$argument
  [[ $previous != --records ]] || records=$argument
  previous=$argument
done
case "$command" in
  verify)
    echo '{"engine": "twin", "complete": true, "ended": "", "command": "v", "files": []}' \
      >"$json"
    ;;
  panel) echo '{"record": "gap", "what": "a part", "why": "of the panel"}' >"$records" ;;
  replay) echo '{"failures": []}' >"$json" ;;
  check)
    if [[ $CHECK == hang ]]; then
      trap 'exit 5' TERM
      touch "$HANGS"
      while :; do sleep 0.05; done
    fi
    failures='' fails=0 errors=0 status=0
    if [[ $CHECK == fail || $CHECK == crash ]]; then
      failures='{"invariant": "a", "engine": "twin", "detail": "d", "text": "t", "replay": "r",
        "indices": [3]}'
      if [[ $CHECK == fail ]]; then fails=1 status=1; else errors=1 status=4; fi
      echo '{}' >"$(dirname "$json")/failures.jsonl"
    fi
    echo '{"rows": [{"invariant": "a", "engine": "twin", "holds": 1, "fails": '$fails',
      "undecided": 0, "suspicious": 0, "engine_errors": '$errors', "not_served": 0,
      "worst_ratio": 0.5}],
      "not_available": [], "not_asked": [], "never_applied": [], "failures": ['"$failures"']}' \
      >"$json"
    exit "$status"
    ;;
  triage)
    echo '{"findings": [{"origin": "check.json, failure 1", "operator": "conv",
      "cause": "taps"}]}' >"$json"
    exit 1
    ;;
  matrix) echo '{"rows": []}' >"$json" ;;
  *) exec "$DELTAPROOF_ITSELF" "$@" ;;
esac
)sh";

class NightlyScript : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    for (const char* script : {"nightly", "doctor"}) {
      fs::create_directories(path("tree/ci"));
      fs::copy_file(std::string(SOURCE_DIR "/ci/") + script, path("tree/ci/") + script);
    }
    program("tree/ci/set-up", "#!/bin/sh\nexit 0\n");
    program("tree/build/dev/deltaproof", stand_in);
    program("bin/cmake", "#!/bin/sh\nexit 0\n");
    // The machine of the test may have one.
    program("bin/nvidia-smi", "#!/bin/sh\nexit 9\n");
  }
  void program(const std::string& name, const std::string& text) const {
    write(name, text);
    fs::permissions(path(name), fs::perms::owner_all);
  }
  std::string line(const std::string& arguments, const std::string& check) const {
    return "PATH=" + path("bin") + ":$PATH CHECK=" + check + " HANGS=" + path("hangs") +
           " DELTAPROOF_ITSELF=" DELTAPROOF " " + path("tree/ci/nightly") + " --out " +
           path("out") + " " + arguments;
  }
  Ran nightly(const std::string& arguments, const std::string& check = "hold") const {
    return run_line(line(arguments, check) + " 2>&1");
  }
  std::optional<Night> records() const {
    std::string why;
    std::optional<Night> night = parse_night(content("out/night.jsonl"), &why);
    EXPECT_TRUE(night) << why;
    return night;
  }
  std::vector<std::string> nights_remembered() const {
    std::vector<std::string> ids;
    std::string why;
    const std::unique_ptr<History> history = History::open(path("out/history.sqlite"), &why);
    EXPECT_TRUE(history) << why;
    const std::optional<HistoryView> view = history ? history->view(100, &why) : std::nullopt;
    EXPECT_TRUE(view) << why;
    for (const Night& night : view ? view->nights : std::vector<Night>{}) ids.push_back(night.id);
    return ids;
  }
};

std::string state_of(const Night& night, const std::string& name) {
  for (const NightStage& stage : night.stages) {
    if (stage.name == name) return stage.state;
  }
  return "";
}

TEST_F(NightlyScript, ANightThatHoldsIsStatusZeroAndIsRemembered) {
  const Ran ran = nightly("--quick --id one");
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  EXPECT_TRUE(night->complete);
  EXPECT_EQ(state_of(*night, "invariants"), "passed");
  ASSERT_EQ(night->gaps.size(), 1U) << "the records of the panel are taken as they are";
  EXPECT_EQ(night->gaps[0].what, "a part");
  for (const NightStage& stage : night->stages) EXPECT_NE(stage.state, "failed") << stage.why;
  // What did not run is said, with its reason, and is no pass.
  EXPECT_EQ(state_of(*night, "device"), "not_run");
  EXPECT_THAT(ran.output, HasSubstr("no GPU"));
  EXPECT_THAT(nights_remembered(), ElementsAre("one"));
  EXPECT_THAT(content("out/report.html"), HasSubstr("</html>"));
}

TEST_F(NightlyScript, AFindingIsDiagnosedAndGoesToTheHook) {
  const Ran ran = nightly("--quick --on-finding 'cat >" + path("hook") + "'", "fail");
  EXPECT_EQ(ran.status, 1) << ran.output;
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  ASSERT_EQ(night->findings.size(), 1U);
  EXPECT_EQ(night->findings[0].diagnosis, "taps");
  EXPECT_EQ(state_of(*night, "triage"), "passed");
  EXPECT_EQ(state_of(*night, "matrix"), "passed") << "a stage that fails does not stop the others";
  EXPECT_THAT(content("hook"), HasSubstr("taps"));
}

// What crashes is found too, but nothing was computed wrongly.
TEST_F(NightlyScript, AnEngineThatFailsIsStatusFour) {
  const Ran ran = nightly("--quick", "crash");
  EXPECT_EQ(ran.status, 4) << ran.output;
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  EXPECT_EQ(night->findings.size(), 1U);
}

TEST_F(NightlyScript, ANightThatIsInterruptedKeepsWhatItHas) {
  const Ran ran =
      run_line(line("--quick", "hang") + " >" + path("log") + " 2>&1 & night=$!; while [ ! -e " +
               path("hangs") + " ]; do sleep 0.05; done; kill -TERM $night; wait $night");
  EXPECT_EQ(ran.status, 5) << content("log");
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  EXPECT_FALSE(night->complete);
  EXPECT_EQ(state_of(*night, "oracles"), "passed");
  EXPECT_EQ(state_of(*night, "invariants"), "interrupted");
  EXPECT_FALSE(fs::exists(path("out/history.sqlite")));
}

// The drawn moments are in steps of a hundredth of what a night takes here, to its end and beyond.
TEST_F(NightlyScript, KilledAtAnyMomentItLosesNoOtherNight) {
  ASSERT_EQ(nightly("--quick --id first").status, 0);
  Rng rng(20261130);
  int unfinished = 0;
  for (int i = 0; i < 20; ++i) {
    const int hundredths = static_cast<int>(rng.range(1, 250));
    run_line("setsid " + std::string("bash -c \"$(cat <<'LINE'\n") +
             line("--quick --id n" + std::to_string(i), "hold") + " >/dev/null 2>&1\nLINE\n)\" & " +
             "night=$!; sleep " + std::to_string(hundredths / 100.0) +
             "; kill -9 -$night 2>/dev/null; wait $night 2>/dev/null");
    const std::vector<std::string> remembered = nights_remembered();
    ASSERT_FALSE(remembered.empty());
    EXPECT_EQ(remembered.front(), "first");
    std::string why;
    const std::unique_ptr<History> history = History::open(path("out/history.sqlite"), &why);
    for (const std::string& id : remembered) {
      const std::optional<Night> night = history->night(id, &why);
      ASSERT_TRUE(night) << why;
      EXPECT_TRUE(night->complete) << id;
    }
    if (!fs::exists(path("out/night.jsonl"))) continue;
    const std::optional<Night> last = records();
    unfinished += last && !last->complete ? 1 : 0;
  }
  EXPECT_GT(unfinished, 0) << "no night was killed in its middle";
}

// Paths aside, which are those of the folders.
std::vector<std::string> groups_of(const Night& night) {
  std::vector<std::string> groups;
  for (const NightFinding& f : night.findings) {
    groups.push_back(f.invariant + " " + f.op + " " + f.diagnosis + " " + f.indices.at(0) + " " +
                     std::to_string(f.seen) + "\n" + f.case_text);
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

TEST_F(NightlyScript, TwoShardsMergedFindWhatOneRunFinds) {
  const auto judged = [&](const std::string& folder, const std::string& shard) {
    const std::string out = path(folder);
    fs::create_directories(out);
    run("check --engine mutant:beta_from_a --invariant operators_within_bound --invariant "
        "beta_is_the_sigmoid_of_b --cases 60 --shard " +
        shard + " --out " + out + " --json " + out + "/check.json");
    run("triage " + out + "/check.json --json " + out + "/triage.json --out " + out);
    const Ran ran = run("collect " + out + " --id n --commit " + std::string(40, 'a') +
                        " --began 2026-11-30T02:00:00Z --seed 1 --shard " + shard);
    EXPECT_EQ(ran.status, 0) << ran.output;
    return out + "/night.jsonl ";
  };
  const std::string whole = judged("whole", "0/1");
  const std::string shards = judged("a", "0/2") + judged("b", "1/2");
  const Ran ran = run("collect --merge " + shards + " --out " + path("merged.jsonl"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  std::string why;
  const std::optional<Night> one = parse_night(content("whole/night.jsonl"), &why);
  const std::optional<Night> merged = parse_night(content("merged.jsonl"), &why);
  ASSERT_TRUE(one && merged) << why;
  EXPECT_TRUE(merged->complete);
  EXPECT_FALSE(one->findings.empty());
  EXPECT_EQ(groups_of(*merged), groups_of(*one));
  EXPECT_EQ(merged->status, one->status);
}

// The folder of another machine says which night it is, and what machine that was.
TEST_F(NightlyScript, AFolderIsCollectedAgainWhereverItIs) {
  ASSERT_EQ(nightly("--quick --id there").status, 0);
  const std::string before = content("out/night.jsonl");
  fs::rename(path("out"), path("here"));
  const Ran again = run("collect " + path("here") + " --subject 'its words'");
  EXPECT_EQ(again.status, 0) << again.output;
  std::string why;
  const std::optional<Night> was = parse_night(before, &why);
  const std::optional<Night> is = parse_night(content("here/night.jsonl"), &why);
  ASSERT_TRUE(was && is) << why;
  EXPECT_EQ(is->id, "there");
  EXPECT_EQ(is->subject, "its words");
  EXPECT_EQ(is->command, was->command);
  EXPECT_EQ(print_records(*is), print_records(*was));
  EXPECT_TRUE(is->complete);
  // What cannot be read is left out, and who asks is told.
  write("here/matrix.json", R"({"rows": 1.5})");
  const Ran damaged = run("collect " + path("here"));
  EXPECT_EQ(damaged.status, 2) << damaged.output;
  EXPECT_THAT(damaged.output, HasSubstr("matrix.json"));
  EXPECT_EQ(state_of(*parse_night(content("here/night.jsonl"), &why), "collect matrix.json"),
            "failed");
  fs::remove(path("here/night.jsonl"));
  EXPECT_EQ(run("collect " + path("here")).status, 2);
}

TEST_F(NightlyScript, WrongOptionsAreStatusTwo) {
  for (const char* wrong : {"--minutes 0", "--minutes x", "--shard 2/2", "--shard 1", "--cases -1",
                            "--what", "--out", "--binaries /nowhere", "--commit abc"}) {
    const Ran ran = run_line(path("tree/ci/nightly") + " " + wrong + " 2>&1");
    EXPECT_EQ(ran.status, 2) << wrong << ": " << ran.output;
  }
}

// Where nothing can be built: git, cmake and what they made are not asked for.
TEST_F(NightlyScript, ProgramsBuiltElsewhereJudgeAndWhatNeedsABuildDidNotRun) {
  fs::remove_all(path("tree/build"));
  program("programs/deltaproof", stand_in);
  program("bin/cmake", "#!/bin/sh\nexit 9\n");
  program("bin/git", "#!/bin/sh\nexit 127\n");
  const std::string commit(40, 'a');
  const Ran ran = nightly("--minutes 1 --binaries " + path("programs") + " --commit " + commit);
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  EXPECT_TRUE(night->complete);
  EXPECT_EQ(night->commit, commit);
  EXPECT_EQ(night->seed, commit);
  for (const char* stage : {"set_up", "build", "tests", "fuzz", "device", "bench", "coverage"}) {
    EXPECT_EQ(state_of(*night, stage), "not_run") << stage;
  }
  for (const char* stage : {"doctor", "oracles", "replay", "panel", "invariants", "matrix"}) {
    EXPECT_EQ(state_of(*night, stage), "passed") << stage;
  }
  EXPECT_FALSE(fs::exists(path("tree/build")));
}

// The programs that ci/gpu calls answer at once here, too.
TEST_F(NightlyScript, OnAGpuTheEngineCudaIsJudgedAndTheDeviceChecked) {
  fs::copy_file(SOURCE_DIR "/ci/gpu", path("tree/ci/gpu"));
  program("bin/nvidia-smi", "#!/bin/sh\necho 'A GPU, 1.2'\n");
  program("bin/compute-sanitizer", "#!/bin/sh\nexit 0\n");
  program("programs/deltaproof", stand_in);
  for (const char* name :
       {"gpu_bench", "planted_faults", "platform_gpu", "elementary_gpu", "elementary_exhaustive"}) {
    program(std::string("programs/") + name, "#!/bin/sh\nexit 0\n");
  }
  program("programs/gpu_check", R"sh(#!/usr/bin/env bash
[[ $1 == report ]] || exit 0
while [[ $1 != --json ]]; do shift; done
echo '{"parts": [{"tables": [], "statements": [{"text": "a", "holds": true, "detail": ""}]}]}' >"$2"
)sh");
  const Ran ran = nightly("--minutes 1 --binaries " + path("programs"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::optional<Night> night = records();
  ASSERT_TRUE(night);
  EXPECT_EQ(night->machine.gpu, "A GPU");
  EXPECT_EQ(state_of(*night, "device"), "passed");
  for (const char* log : {"oracles", "replay", "invariants"}) {
    EXPECT_THAT(content(std::string("out/logs/") + log + ".log"), HasSubstr("cuda")) << log;
  }
  // What the night has judged is not judged again.
  EXPECT_THAT(content("out/logs/device.log"), Not(HasSubstr("catalogue: status")));
  EXPECT_THAT(content("out/logs/device.log"), HasSubstr("memcheck-engine: status"));
  EXPECT_FALSE(fs::exists(path("tree/docs")));

  const Ran bench =
      run_line("PATH=" + path("bin") + ":$PATH " + path("tree/ci/gpu") + " --bench --binaries " +
               path("programs") + " --out " + path("bench") + " 2>&1");
  EXPECT_EQ(bench.status, 0) << bench.output;
  EXPECT_THAT(bench.output, HasSubstr("bench: status 0"));
  EXPECT_THAT(bench.output, Not(HasSubstr("launches: status")));
}

// --out "$UNSET" would be the root, and --out . has a folder fuzz.
TEST_F(NightlyScript, AFolderOfSomethingElseIsLeftAlone) {
  write("mine/fuzz/work", "mine");
  const Ran ran = run_line(path("tree/ci/nightly") + " --quick --out " + path("mine") + " 2>&1");
  EXPECT_EQ(ran.status, 2) << ran.output;
  EXPECT_EQ(content("mine/fuzz/work"), "mine");
  for (const char* wrong : {"--out ''", "--id 'my night'"}) {
    EXPECT_EQ(run_line(path("tree/ci/nightly") + " --quick " + wrong + " 2>&1").status, 2) << wrong;
  }
}

TEST_F(NightlyScript, YesterdaysVerdictIsNotThisNights) {
  write("out/stages.tsv", "");
  write("out/report.html", "holds");
  write("out/night.json", "{}");
  write("out/failures.jsonl", "{}");
  fs::remove(path("tree/build/dev/deltaproof"));
  const Ran ran = nightly("--quick");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the build failed"));
  for (const char* old : {"out/report.html", "out/night.json", "out/failures.jsonl"}) {
    EXPECT_FALSE(fs::exists(path(old))) << old;
  }
}

TEST_F(NightlyScript, TwoAtOnceInOneFolderAreRefused) {
  fs::create_directories(path("out"));
  const Ran ran = run_line("exec 9>>" + path("out/stages.tsv") + "; flock 9; " +
                           line("--quick", "hold") + " 9>&- 2>&1");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("another night writes to"));
}

std::string workflow(const std::string& name) {
  std::ifstream file(SOURCE_DIR "/.github/workflows/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

TEST(Workflows, PinTheirActionsAndReadOnly) {
  for (const char* name : {"nightly.yml", "pull_request.yml"}) {
    const std::string text = workflow(name);
    const std::regex use("uses: *(\\S+)");
    const std::regex pinned("[\\w./-]+@[0-9a-f]{40}");
    size_t uses = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), use), end; at != end; ++at, ++uses) {
      EXPECT_TRUE(std::regex_match((*at)[1].str(), pinned)) << name << ": " << (*at)[1];
    }
    EXPECT_GT(uses, 0U);
    EXPECT_THAT(text, HasSubstr("permissions:\n  contents: read\n")) << name;
    EXPECT_THAT(text, Not(HasSubstr(": write"))) << name;
    EXPECT_THAT(text, HasSubstr("persist-credentials: false")) << name;
  }
}

// Anyone may open a pull request; a runner of one's own must never run its code.
TEST(Workflows, NoPullRequestReachesARunnerOfOnesOwn) {
  const std::string nightly = workflow("nightly.yml");
  EXPECT_THAT(nightly, HasSubstr("self-hosted"));
  EXPECT_THAT(nightly, Not(HasSubstr("pull_request")));
  EXPECT_THAT(workflow("pull_request.yml"), Not(HasSubstr("self-hosted")));
  EXPECT_THAT(workflow("pull_request.yml"), Not(HasSubstr("secrets.")));
}

}  // namespace
}  // namespace gdn
