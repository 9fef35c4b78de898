// Every invariant on drawn cases: none fails, for a plain engine and on a simulated GPU. A case
// that fails is shrunk, saved, and named with the command that replays it.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "invariants/harness/invariant.h"
#include "properties/case_gen.h"

namespace gdn {
namespace {

// A shrinker that has tried so many cases stops where it is.
constexpr size_t shrinks_max = 500;

struct Failure {
  Case content;
  std::string invariant, engine, detail;
};

// Judges cases one by one and remembers the last that failed: the smallest, as RapidCheck goes
// from one that fails to a smaller one that does.
class Judge {
 public:
  Judge() {
    for (const char* name : {"twin", "simt"}) {
      std::string why;
      const std::optional<EngineSource> engine = find_engine(name, &why);
      if (!engine) throw std::runtime_error(why);
      labs_.emplace_back(*engine);
    }
  }

  bool holds(const Case& c) {
    if (failure_ && ++shrinks_ > shrinks_max) return true;
    for (const Lab& lab : labs_) {
      for (const Invariant& invariant : registry()) {
        // A smaller case has to fail the same claim of the same engine.
        if (failure_ && (failure_->invariant != invariant.name || failure_->engine != lab.engine()))
          continue;
        if (!failure_ && !asked(invariant, c)) continue;
        const Verdict verdict = check(invariant, c, lab);
        ++judged_;
        if (verdict.outcome != Outcome::fails) continue;
        failure_ = Failure{c, invariant.name, lab.engine(), verdict.detail};
        return false;
      }
    }
    return true;
  }

  size_t judged() const { return judged_; }
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  std::vector<Lab> labs_;
  std::optional<Failure> failure_;
  size_t shrinks_ = 0, judged_ = 0;
};

void report(const Failure& failure) {
  const std::filesystem::path folder = FAILURES_DIR;
  std::filesystem::create_directories(folder);
  const std::string file =
      (folder / (failure.invariant + "-" + hash8(failure.content) + ".case")).string();
  std::ofstream(file) << print(failure.content);
  std::printf("%s fails for %s: %s\ndeltaproof replay %s --invariant %s --engine %s\n",
              failure.invariant.c_str(), failure.engine.c_str(), failure.detail.c_str(),
              file.c_str(), failure.invariant.c_str(), failure.engine.c_str());
}

int run() {
  use_fixed_seed(20261129, 60);
  Judge judge;
  const bool all_hold = rc::check("no invariant fails", [&judge] {
    const Case c = *case_gen();
    RC_ASSERT(judge.holds(c));
  });
  std::printf("%zu verdicts\n", judge.judged());
  if (judge.failure()) report(*judge.failure());
  return all_hold && judge.judged() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace gdn

int main() { return gdn::run(); }
