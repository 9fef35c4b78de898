// Every file of corpus/regressions is a test of its own, Corpus.INVARIANT.FILE: a right engine of
// every kind holds the invariant that the file is filed under, with nothing undecided.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

fs::path regressions() { return fs::path(SOURCE_DIR) / "corpus" / "regressions"; }

bool is_about(const Claim& claim, const std::string& engine) {
  const std::vector<std::string>& judges = claim.judges;
  return judges.empty() || std::find(judges.begin(), judges.end(), engine) != judges.end();
}

// A partial engine holds what is about it, and of the rest what it happens to serve.
std::vector<std::string> engines_for(const Claim& claim) {
  if (!claim.judges.empty()) return gdn::testing::all_engines_here();
  return gdn::testing::engines_here();
}

class Regression : public ::testing::Test {
 public:
  explicit Regression(fs::path file) : file_(std::move(file)) {}

  void TestBody() override {
    std::string why;
    const std::optional<Case> c = parse_case(file_text(file_), &why);
    ASSERT_TRUE(c.has_value()) << file_ << ": " << why;
    const Invariant* const invariant = invariant_named(file_.parent_path().filename().string());
    ASSERT_NE(invariant, nullptr) << file_ << ": no invariant has the name of its folder";
    size_t judged = 0;
    for (const std::string& name : engines_for(invariant->claim)) {
      if (!is_about(invariant->claim, name)) continue;
      const std::optional<EngineSource> engine = find_engine(name, &why);
      ASSERT_TRUE(engine.has_value()) << why;
      const Verdict verdict = check(*invariant, *c, Lab(*engine));
      const std::string replay = "\nreplay: deltaproof replay " + file_.string() + " --invariant " +
                                 invariant->name + " --engine " + name;
      EXPECT_TRUE(verdict.holds())
          << name << ": expected that it holds, got " << name_of(verdict.outcome) << ", "
          << verdict.undecided << " of " << verdict.elements
          << " elements undecided: " << verdict.detail << replay;
      EXPECT_GT(verdict.elements, 0U) << name << ": nothing was judged" << replay;
      ++judged;
    }
    EXPECT_GT(judged, 0U) << "no engine that " << invariant->name << " is about is here";
  }

 private:
  fs::path file_;
};

void register_regressions() {
  for (const auto& file : fs::recursive_directory_iterator(regressions())) {
    if (file.path().extension() != ".case") continue;
    const std::string name =
        file.path().parent_path().filename().string() + "." + file.path().stem().string();
    ::testing::RegisterTest("Corpus", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path = file.path()]() -> Regression* { return new Regression(path); });
  }
}

// The bytes that once crashed a hostile target are replayed by the target.
bool is_for_a_target(const std::string& folder) {
  const fs::path source = fs::path(SOURCE_DIR) / "fuzz" / (folder + ".cpp");
  return folder.starts_with("fuzz_") && fs::exists(source);
}

TEST(CorpusFolders, EveryRegressionHasATestOrATargetThatReplaysIt) {
  size_t files = 0;
  for (const auto& file : fs::recursive_directory_iterator(regressions())) {
    if (!file.is_regular_file()) continue;
    ++files;
    const fs::path folder = fs::relative(file.path(), regressions()).parent_path();
    const bool is_case = file.path().extension() == ".case";
    const bool is_filed =
        is_case ? invariant_named(folder.string()) != nullptr : is_for_a_target(folder.string());
    EXPECT_TRUE(is_filed) << file.path()
                          << ": expected INVARIANT/FILE.case, or FUZZ_TARGET/FILE of bytes";
  }
  EXPECT_GT(files, 0U);
}

}  // namespace
}  // namespace gdn

// A filter that no test matches is a file that is gone, and no pass.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gdn::register_regressions();
  const int result = RUN_ALL_TESTS();
  const bool ran_some = testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  if (result == 0 && !ran_some) std::fprintf(stderr, "no test matches the filter\n");
  return ran_some ? result : 2;
}
