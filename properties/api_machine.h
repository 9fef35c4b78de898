// The state machine of the ABI: random call sequences on an open engine, against the model. Each
// command of RapidCheck is one call, drawn for the state that the model is in. RapidCheck leaves
// calls out of a sequence that fails; what is left is a case, which shrinks as any other.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "invariants/harness/draw_calls.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/model_check.h"
#include "invariants/harness/shrink.h"

namespace gdn::machine {

struct MachineRun {
  int64_t sequences = 0;  // that held
  size_t calls = 0;       // of all sequences
  // The shortest sequence that fails, and what was expected and got; nothing where all held.
  std::optional<Case> failing;
  std::string detail;
};

// Small shapes that hide nothing: kd, vd and the heads differ, and 4-bit rows are whole blocks.
inline std::vector<Case> cases_of_machine() {
  const auto shape = [](int64_t hidden, int64_t kd, int64_t vh, int64_t vd, int64_t ck) {
    Shape s;
    s.hidden_size = hidden;
    s.num_k_heads = 1;
    s.head_k_dim = kd;
    s.num_v_heads = vh;
    s.head_v_dim = vd;
    s.conv_kernel = ck;
    return s;
  };
  std::vector<Case> cases;
  for (const Weights weights : {Weights::f32, Weights::q4}) {
    for (int64_t layers = 1; layers <= 3; ++layers) {
      // The seed also says how many snapshots are kept, what is poisoned and what is refused.
      for (uint64_t seed = 0; seed < 6; ++seed) {
        Case c;
        c.seed = seed;
        c.weights = weights;
        c.tokens = 8;
        c.shape = weights == Weights::q4 ? shape(32, 6, 2, 16, 3) : shape(6, 3, 2, 4, 1 + layers);
        c.shape.num_layers = layers;
        cases.push_back(std::move(c));
      }
    }
  }
  return cases;
}

// The one that failed last: RapidCheck goes on from failing sequences alone, to shorter ones.
struct Failing {
  std::optional<Case> found;
  std::string detail;
  size_t calls = 0;
};

// RapidCheck's own would print a seed that nobody uses.
class Silent : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

// The engine under test, with the calls that were made so far.
struct Sut {
  const Case& bare;
  ModelCheck check;
  std::vector<Call> calls;
  Failing& failing;

  void judged(const Verdict& verdict) {
    if (verdict.holds()) return;
    failing.found = bare.with_calls(calls);
    failing.detail = std::string(name_of(verdict.outcome)) + ": " + verdict.detail;
    RC_FAIL(failing.detail);
  }
};

class OneCall : public rc::state::Command<LifeModel, Sut> {
 public:
  OneCall(Call call, const Case& bare) : call_(std::move(call)), bare_(bare) {}

  void checkPreconditions(const LifeModel& model) const override {
    RC_PRE(may_follow(call_, bare_, model));
  }
  void apply(LifeModel& model) const override { model.next(call_); }
  void run(const LifeModel&, Sut& sut) const override {
    sut.calls.push_back(call_);
    ++sut.failing.calls;
    sut.judged(sut.check.call(call_));
  }
  void show(std::ostream& os) const override {
    const std::string text = print(bare_.with_calls({call_}));
    os << text.substr(text.find("\ncall ") + 1);
  }

 private:
  Call call_;
  const Case& bare_;
};

using Command = rc::state::Command<LifeModel, Sut>;

inline rc::Gen<std::shared_ptr<const Command>> any_call(const Case& bare, const LifeModel& model) {
  return rc::gen::map(
      rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>())),
      [&bare, model](uint64_t seed) -> std::shared_ptr<const Command> {
        Rng rng(seed);
        return std::make_shared<OneCall>(draw_call(rng, bare, model), bare);
      });
}

// So many sequences of calls, over one to three layers, float32 and 4-bit weights. The seed alone
// decides them.
inline MachineRun run_machine(const Lab& lab, uint64_t seed, int64_t sequences) {
  const std::vector<Case> cases = cases_of_machine();
  std::vector<std::unique_ptr<Replays>> replays(cases.size());
  Failing failing;
  const auto property = [&] {
    const size_t which = *rc::gen::noShrink(rc::gen::inRange<size_t>(0, cases.size()));
    if (!replays[which]) replays[which] = std::make_unique<Replays>(lab, cases[which]);
    const Case& bare = cases[which];
    Sut sut{bare, ModelCheck(lab, bare, *replays[which]), {}, failing};
    const LifeModel start(bare, setting_of(bare).snapshots_max);
    rc::state::check(start, sut, [&bare](const LifeModel& model) { return any_call(bare, model); });
    sut.judged(sut.check.finish());
  };
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = static_cast<int>(sequences);
  params.maxSize = 160;  // calls in the longest sequence
  Silent silent;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params, silent,
                                std::unordered_map<std::string, rc::detail::Reproduce>{});
  MachineRun run;
  run.calls = failing.calls;
  rc::detail::SuccessResult success;
  if (result.match(success)) {
    run.sequences = success.numSuccess;
    return run;
  }
  if (!failing.found) {
    std::ostringstream why;
    rc::detail::printResultMessage(result, why);
    run.detail = why.str();
    return run;
  }
  run.detail = failing.detail;
  const auto still_fails = [&](const Case& c) {
    if (c.subject != Subject::layer || c.calls.empty()) return false;
    Replays own(lab, c);
    const Verdict verdict = behaves_as_modelled(c, lab, own);
    if (verdict.outcome < Outcome::engine_error) return false;
    run.detail = std::string(name_of(verdict.outcome)) + ": " + verdict.detail;
    return true;
  };
  constexpr size_t tries_max = 400;
  run.failing = shrink(*failing.found, still_fails, tries_max).smallest;
  return run;
}

}  // namespace gdn::machine
