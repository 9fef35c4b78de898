// The fault that a case shows.
#include "ci/corpus_fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/processes.h"

namespace gdn {
namespace {

// The claim that is about one operator at a time, on the inputs that the engine itself fed it.
constexpr std::string_view local_claim = "operators_within_bound";
// Of many claims that fail alike, so many are followed to their smallest case.
constexpr size_t followed_max = 6;
constexpr const char* no_operator = "host";

bool is_about(const Claim& claim, const std::string& engine) {
  const std::vector<std::string>& judges = claim.judges;
  return judges.empty() || std::find(judges.begin(), judges.end(), engine) != judges.end();
}

bool holds_decided(const Verdict& verdict) { return verdict.holds() && verdict.elements > 0; }

std::string unfit(const std::string& engine, const Verdict& verdict) {
  std::string why = fmt::format("{} on {}", name_of(verdict.outcome), engine);
  if (verdict.holds()) why = fmt::format("judged nothing on {}", engine);
  return verdict.detail.empty() ? why : why + ": " + verdict.detail;
}

void take(const Asked& asked, const Answer& one, Fault& fault) {
  const std::string& engine = asked.judging.engines[one.engine].name;
  if (one.verdict.outcome >= Outcome::engine_error) {
    if (fault.failing.empty() || one.verdict.outcome > fault.verdict.outcome) {
      fault.verdict = one.verdict;
      fault.crashed = one.crashed;
      fault.hangs = one.hangs;
      fault.failing.insert(fault.failing.begin(), one.engine);
    } else {
      fault.failing.push_back(one.engine);
    }
  } else if (holds_decided(one.verdict)) {
    fault.holding.push_back(one.engine);
  } else if (one.engine < asked.ours && is_about(fault.invariant->claim, engine)) {
    fault.why_unfit = unfit(engine, one.verdict);
  }
}

int rank_of(const Fault& fault) {
  const int by_outcome = fault.verdict.outcome == Outcome::fails ? 0 : 2;
  return by_outcome + (fault.invariant->name == local_claim ? 0 : 1);
}

// The claim judged anew, on every engine: what fails on a smaller case may be less.
Fault judged_anew(const Asked& asked, const Invariant* invariant, const Case& c) {
  Judging judging = asked.judging;
  judging.invariants = {invariant};
  judging.case_at = [&](size_t) { return c; };
  const Asked now{judging, asked.ours};
  std::vector<Fault> faults;
  judge(judging, 1, nullptr,
        [&](size_t, const std::vector<Answer>& answers) { faults = faults_of(now, answers); });
  return faults.empty() ? Fault{} : faults.front();
}

void follow(const Asked& asked, const Case& c, std::vector<Fault>& faults) {
  std::vector<Failing> failing;
  for (const Fault& fault : faults) {
    const auto in_registry = std::find(asked.judging.invariants.begin(),
                                       asked.judging.invariants.end(), fault.invariant);
    Failing one{c,
                fault.failing.front(),
                static_cast<size_t>(in_registry - asked.judging.invariants.begin()),
                fault.crashed,
                fault.verdict,
                {},
                0,
                {},
                fault.hangs};
    // The checked and the GPU's runs are those of simt, bit for bit, and cost more.
    for (const size_t engine : fault.holding) {
      const std::string& name = asked.judging.engines[engine].name;
      if (name == "twin" || name == "simt") one.holding.push_back(engine);
    }
    failing.push_back(std::move(one));
  }
  make_small(asked.judging, failing);
  for (size_t i = 0; i < faults.size(); ++i) {
    faults[i].smallest = c;
    if (faults[i].hangs) continue;
    Fault anew = judged_anew(asked, faults[i].invariant, failing[i].smallest);
    const bool same = !anew.failing.empty() && anew.why_unfit.empty();
    if (!same) continue;
    faults[i] = std::move(anew);
    faults[i].smallest = failing[i].smallest;
    faults[i].steps = failing[i].steps;
  }
}

// The first operator whose result is out of bound on what the engine fed it.
std::string first_out_of_bound(const Case& c, const Lab& lab) {
  if (c.tokens < 1) return no_operator;
  const std::vector<Call> calls = stepped_calls(c);
  const Observation seen = lab.run(c.with_calls(calls));
  if (!seen.served().holds()) return no_operator;
  std::vector<TokenTensors> tokens;
  std::vector<int64_t> rows;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].kind != CallKind::step) continue;
    rows.push_back(static_cast<int64_t>(rows.size()));
    tokens.push_back(seen.calls[i].reads);
  }
  for (const Judgement& row : judge(tokens, lab.expect_local(c, 0, rows, tokens))) {
    if (row.verdict.outcome == Outcome::fails) return std::string(name_of(row.op));
  }
  return no_operator;
}

std::string operator_at_fault(const EngineSource& engine, const Case& c) {
  if (const std::optional<Operator> op = operator_of(c.subject)) return std::string(name_of(*op));
  std::string found = no_operator;
  Work work;
  work.tasks = 1;
  work.run = [&](size_t, size_t first, Channel& channel) {
    if (first > 0) return;
    channel.begin(0);
    channel.put(first_out_of_bound(c, Lab(engine)));
  };
  work.result = [&](size_t, size_t, std::string_view name) { found = name; };
  work.crashed = [](size_t, size_t, const std::string&) {};
  work.done = [](size_t) {};
  share_out(1, work);
  return found;
}

}  // namespace

std::vector<Fault> faults_of(const Asked& asked, const std::vector<Answer>& answers) {
  std::vector<Fault> faults;
  for (size_t i = 0; i < asked.judging.invariants.size(); ++i) {
    Fault fault;
    fault.invariant = asked.judging.invariants[i];
    bool decided = false;
    for (const Answer& one : answers) {
      if (one.invariant != i) continue;
      take(asked, one, fault);
      const bool fails = one.verdict.outcome >= Outcome::engine_error;
      decided |= one.engine < asked.ours && (fails || holds_decided(one.verdict));
    }
    if (fault.failing.empty()) continue;
    if (!decided && fault.why_unfit.empty()) fault.why_unfit = "about none of the built-in engines";
    faults.push_back(std::move(fault));
  }
  return faults;
}

Fault fault_that_says_most(const Asked& asked, const Case& c, std::vector<Fault> faults) {
  int best = rank_of(faults.front());
  for (const Fault& fault : faults) best = std::min(best, rank_of(fault));
  std::erase_if(faults, [&](const Fault& fault) { return rank_of(fault) > best; });
  faults.resize(std::min(faults.size(), followed_max));
  follow(asked, c, faults);
  Fault& most =
      *std::min_element(faults.begin(), faults.end(), [](const Fault& one, const Fault& other) {
        return print(one.smallest).size() < print(other.smallest).size();
      });
  most.op = most.hangs
                ? no_operator
                : operator_at_fault(asked.judging.engines[most.failing.front()], most.smallest);
  return std::move(most);
}

}  // namespace gdn
