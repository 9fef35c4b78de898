// ci/fuzz by what it keeps, says and returns, with programs in place of the fuzz targets that do at
// once what libFuzzer may do at some time.
#include <gtest/gtest.h>

#include <set>

#include "tests/program_run.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// Reads libFuzzer's options. A merge keeps every input; a search, and a run of one input, does what
// $BEHAVIOUR says.
constexpr const char* stand_in = R"sh(#!/usr/bin/env bash
folders=() merge=no
for argument; do
  case "$argument" in
    -artifact_prefix=*) prefix=${argument#*=} ;;
    -max_total_time=*) seconds=${argument#*=} ;;
    -seed=*) seed=${argument#*=} ;;
    -set_cover_merge=1) merge=yes ;;
    -*) ;;
    *) folders+=("$argument") ;;
  esac
done
if [[ $merge == yes ]]; then
  for folder in "${folders[@]:1}"; do sha1sum "$folder"/* 2>/dev/null; done |
    while read -r hash path; do cp "$path" "${folders[0]}/$hash"; done
  exit 0
fi
if [[ -f ${folders[0]} ]]; then [[ $BEHAVIOUR != crash ]]; exit; fi
keep() {
  kept=$2$(printf '%s' "$1" | sha1sum | cut -d' ' -f1)
  printf '%s' "$1" >"$kept"
}
keep "seed $seed" "${folders[0]}/"
echo "#100	NEW    cov: 7 ft: 9 corp: 1/1b exec/s: 50 rss: 1Mb"
case "$BEHAVIOUR" in
  crash)
    sleep 0.3
    keep "slow" "${prefix}slow-unit-"
    echo "Test unit written to $kept"
    keep "crashes with $seed" "${prefix}crash-"
    echo "this does not hold: a claim"
    echo "Test unit written to $kept"
    exit 77
    ;;
  broken) exit 3 ;;
  slow)
    keep "slow by the clock" "${prefix}slow-unit-"
    echo "Test unit written to $kept"
    ;;
esac
trap 'exit 72' TERM
for ((i = 0; i < seconds * 10; ++i)); do sleep 0.1; done
echo "stat::number_of_executed_units: 1234"
)sh";

class FuzzScript : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("bin/fuzz_safetensors", stand_in);
    fs::permissions(path("bin/fuzz_safetensors"), fs::perms::owner_all);
  }
  Ran fuzz(const std::string& arguments, const std::string& before = "") const {
    return run_line(before + " " + SOURCE_DIR + "/ci/fuzz --binaries " + path("bin") +
                    " --target fuzz_safetensors " + arguments + " 2>&1");
  }
  std::set<std::string> files(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path(folder))) {
      names.insert(entry.path().filename());
    }
    return names;
  }
};

TEST_F(FuzzScript, FindingNothingIsStatusZero) {
  const Ran ran = fuzz("--minutes 0.02 --jobs 2 --out " + path("out"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_NE(ran.output.find("2,468"), std::string::npos) << ran.output;
  EXPECT_EQ(files("out/fuzz_safetensors/corpus").size(), 2U) << "a random number for each process";
}

TEST_F(FuzzScript, WhatIsSlowByTheClockAloneIsNoFault) {
  const Ran ran = fuzz("--minutes 0.02 --jobs 1 --out " + path("out"), "BEHAVIOUR=slow");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_TRUE(files("out/fuzz_safetensors/artifacts").empty()) << ran.output;
}

TEST_F(FuzzScript, EqualFaultsLeaveOneInputAndTheirNumber) {
  const Ran ran = fuzz("--minutes 0.04 --jobs 1 --seed 7 --out " + path("out"), "BEHAVIOUR=crash");
  EXPECT_EQ(ran.status, 1) << ran.output;
  std::set<std::string> kept = files("out/fuzz_safetensors/artifacts");
  std::erase_if(kept, [](const std::string& name) { return name.starts_with("slow-unit-"); });
  ASSERT_EQ(kept.size(), 1U) << ran.output;
  EXPECT_NE(
      ran.output.find("corpus add " + path("out/fuzz_safetensors/artifacts/") + *kept.begin()),
      std::string::npos)
      << ran.output;
  const std::string fault = *files("out/fuzz_safetensors/faults").begin();
  EXPECT_EQ(content("out/fuzz_safetensors/faults/" + fault + "/fault"),
            "this does not hold: a claim\n");
  EXPECT_NE(content("out/fuzz_safetensors/faults/" + fault + "/again"), "");
}

TEST_F(FuzzScript, AnInterruptKeepsWhatWasFound) {
  // As soon as something was found, however long that takes where others share the machine.
  const Ran ran = run_line(std::string(SOURCE_DIR) + "/ci/fuzz --binaries " + path("bin") +
                           " --target fuzz_safetensors --minutes 5 --jobs 1 --out " + path("out") +
                           " 2>&1 & found=" + path("out/fuzz_safetensors/corpus") +
                           "; until ls $found 2>/dev/null | grep -q .; do sleep 0.2; done;" +
                           " sleep 0.2; kill -TERM $!; wait $!");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_NE(ran.output.find("interrupted"), std::string::npos) << ran.output;
  EXPECT_EQ(files("out/fuzz_safetensors/corpus").size(), 1U) << ran.output;
  EXPECT_TRUE(
      files("out/fuzz_safetensors/merged").contains(*files("out/fuzz_safetensors/corpus").begin()));
}

TEST_F(FuzzScript, ATargetThatEndsByItselfIsStatusFive) {
  const Ran ran = fuzz("--minutes 0.2 --jobs 1 --out " + path("out"), "BEHAVIOUR=broken");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_NE(ran.output.find("fuzz_safetensors ended by itself"), std::string::npos) << ran.output;
}

TEST_F(FuzzScript, ShardsShareTheirInputsOutAndMergeToTheWhole) {
  const std::string usual = "--minutes 0.02 --jobs 1 --seed 3 ";
  const Ran whole = fuzz(usual + "--out " + path("whole"));
  const Ran first = fuzz(usual + "--shard 0/2 --out " + path("first"));
  const Ran second = fuzz(usual + "--shard 1/2 --out " + path("second"));
  ASSERT_EQ(whole.status + first.status + second.status, 0) << whole.output << second.output;
  std::set<std::string> all = files("first/fuzz_safetensors/start");
  const std::set<std::string> others = files("second/fuzz_safetensors/start");
  const size_t together = all.size() + others.size();
  EXPECT_FALSE(all.empty() || others.empty());
  all.insert(others.begin(), others.end());
  EXPECT_EQ(all.size(), together) << "an input is in both";
  EXPECT_EQ(all, files("whole/fuzz_safetensors/start"));
  const std::set<std::string> one = files("first/fuzz_safetensors/corpus");
  EXPECT_NE(one, files("second/fuzz_safetensors/corpus")) << "both used the same random number";

  const Ran merged =
      fuzz("--merge " + path("first") + " " + path("second") + " --out " + path("merged"));
  EXPECT_EQ(merged.status, 0) << merged.output;
  all.insert(one.begin(), one.end());
  all.merge(files("second/fuzz_safetensors/corpus"));
  EXPECT_EQ(files("merged/fuzz_safetensors/merged"), all);
}

TEST_F(FuzzScript, NamesWithSpacesAreNamesLikeOthers) {
  const Ran ran = fuzz("--minutes 0.02 --jobs 1 --out '" + path("o u t") + "'", "BEHAVIOUR=crash");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_EQ(files("o u t/fuzz_safetensors/faults").size(), 1U) << ran.output;
  EXPECT_NE(ran.output.find("o\\ u\\ t/fuzz_safetensors/artifacts/crash-"), std::string::npos)
      << "the command can be pasted: " << ran.output;

  write("o u t/fuzz_safetensors/corpus/ two  spaces\\", "an input");
  const Ran merged = fuzz("--merge '" + path("o u t") + "' --out " + path("merged"));
  EXPECT_EQ(merged.status, 1) << merged.output;
  EXPECT_TRUE(
      files("merged/fuzz_safetensors/merged").contains("32573332b0274cfb5baf7e3c8cbe53877472cf62"))
      << merged.output;
}

TEST_F(FuzzScript, AFaultThatIsMendedIsForgottenAndAnotherIsNot) {
  const std::string usual = "--minutes 0.02 --jobs 1 --out " + path("out");
  EXPECT_EQ(fuzz(usual, "BEHAVIOUR=crash").status, 1);
  const std::set<std::string> kept = files("out/fuzz_safetensors/faults");
  EXPECT_EQ(fuzz(usual, "BEHAVIOUR=crash").status, 1);
  EXPECT_EQ(files("out/fuzz_safetensors/faults"), kept);
  const Ran mended = fuzz(usual);
  EXPECT_EQ(mended.status, 0) << mended.output;
  EXPECT_NE(mended.output.find("fails no more: this does not hold: a claim"), std::string::npos)
      << mended.output;
  EXPECT_TRUE(files("out/fuzz_safetensors/faults").empty());
}

TEST_F(FuzzScript, AMergeRefusesToLoseAndToMergeNothing) {
  EXPECT_EQ(fuzz("--minutes 0.02 --jobs 1 --out " + path("out"), "BEHAVIOUR=crash").status, 1);
  const std::set<std::string> kept = files("out/fuzz_safetensors/corpus");
  const Ran itself = fuzz("--merge " + path("out") + " --out " + path("out") + "/../out");
  EXPECT_EQ(itself.status, 2) << itself.output;
  EXPECT_EQ(files("out/fuzz_safetensors/corpus"), kept);
  EXPECT_FALSE(files("out/fuzz_safetensors/artifacts").empty());

  write("empty/file", "");
  const Ran nothing = fuzz("--merge " + path("empty") + " --out " + path("merged"));
  EXPECT_EQ(nothing.status, 2) << nothing.output;
  EXPECT_NE(nothing.output.find("holds nothing that a search wrote"), std::string::npos);

  fs::remove_all(path("out/fuzz_safetensors/artifacts"));
  const Ran filed = fuzz("--merge " + path("out") + " --out " + path("merged"));
  EXPECT_EQ(filed.status, 0) << "of what was taken away the rest is merged: " << filed.output;
}

TEST_F(FuzzScript, AFullDiskIsNoFinding) {
  const Ran ran = fuzz("--minutes 0.02 --jobs 1 --out " + path("out"), "ulimit -f 0;");
  EXPECT_EQ(ran.status, 5) << ran.output;
}

TEST_F(FuzzScript, WhatItCannotReadIsStatusTwo) {
  for (const char* const wrong :
       {"", "--minutes", "--minutes soon", "--minutes 0", "--minutes 1 --jobs 0",
        "--minutes 1 --shard 2/2", "--minutes 1 --shard 1", "--minutes 1 --seed x", "--merge",
        "--merge no_such_folder", "--minutes 1 --speed", "--minutes 1 --target fuzz_nothing",
        "--no-such-option", "--minutes 1 --jobs 12345",
        "--minutes 0.02 --jobs 1 --target fuzz_case_text"}) {
    const Ran ran = fuzz(wrong);
    EXPECT_EQ(ran.status, 2) << wrong << ": " << ran.output;
    EXPECT_NE(ran.output.find("ci/fuzz: "), std::string::npos) << wrong << ": " << ran.output;
  }
}

}  // namespace
}  // namespace gdn
