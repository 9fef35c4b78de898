// The search for the first bad commit, on small repositories whose build is a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/files.h"
#include "ci/triage/bisect.h"
#include "ci/triage/run_program.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// Commits 0 to 9; the test of each looks at the number that its build makes of the tree's.
class ABisection : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    repository_ = path("a tree with spaces");
    std::filesystem::create_directories(repository_);
    git("init --quiet --initial-branch=main");
    for (int i = 0; i < 10; ++i) {
      write("a tree with spaces/number", std::to_string(i) + "\n");
      git("add number");
      git("-c user.name=tester -c user.email=tester@example.com commit --quiet -m 'number " +
          std::to_string(i) + "'");
    }
    search_.repository = repository_;
    search_.range = "main~9..main";
    search_.build = "mkdir -p build && cp number build/made";
    search_.test = R"sh(test "$(cat build/made)" -lt "$LIMIT")sh";
    search_.variables = {{"LIMIT", "6"}};
  }
  void git(const std::string& arguments) const {
    const Ran ran = run_line("git -C " + shell_word(repository_) + " " + arguments + " 2>&1");
    ASSERT_EQ(ran.status, 0) << ran.output;
  }
  // Worktrees that git still knows of, the tree itself among them.
  size_t worktrees() const {
    const std::string list =
        run_program({"git", "-C", repository_, "worktree", "list", "--porcelain"}).output;
    size_t count = 0;
    for (size_t at = list.find("worktree "); at != std::string::npos;
         at = list.find("worktree ", at + 1)) {
      ++count;
    }
    return count;
  }

  std::string repository_;
  Bisection search_;
};

TEST_F(ABisection, NamesTheFirstBadCommitInFewTries) {
  const Bisected found = bisect(search_);
  EXPECT_EQ(found.status, 0);
  EXPECT_THAT(found.bad, ElementsAre(EndsWith(" number 6")));
  // Both ends, and the binary logarithm of what lies between.
  EXPECT_LE(found.tried, 2U + 4U);
  EXPECT_EQ(worktrees(), 1U);
}

TEST_F(ABisection, NamesAllThatMayBeItWhereSomeCannotBeBuilt) {
  search_.build += R"sh(; case "$(cat number)" in [456]) false;; esac)sh";
  const Bisected found = bisect(search_);
  EXPECT_EQ(found.status, 0);
  EXPECT_THAT(found.bad, ElementsAre(EndsWith("number 4"), EndsWith("number 5"),
                                     EndsWith("number 6"), EndsWith("number 7")));
  EXPECT_EQ(worktrees(), 1U);
}

TEST_F(ABisection, RefusesEndsThatAreNotAsTheyAreSaidToBe) {
  search_.variables = {{"LIMIT", "100"}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(bisect(search_).status, 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("number 9 was expected to be bad"));
  search_.variables = {{"LIMIT", "-1"}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(bisect(search_).status, 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("number 0 was expected to be good"));
  EXPECT_EQ(worktrees(), 1U);
}

TEST_F(ABisection, RefusesWhatIsNoRange) {
  for (const char* range :
       {"main", "main..", "..main", "main...main~2", "nowhere..main", "-x..y"}) {
    search_.range = range;
    EXPECT_EQ(bisect(search_).status, 2) << range;
  }
}

}  // namespace
}  // namespace gdn
