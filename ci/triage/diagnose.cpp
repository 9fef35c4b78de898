// Candidates are the case itself and those that its invariant makes of it. The first of them on
// which an operator leaves its budget is looked into; else the first on which a call is wrong.
#include "ci/triage/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ci/judging.h"
#include "ci/triage/causes.h"
#include "ci/triage/localise.h"
#include "ci/triage/own_words.h"
#include "ci/triage/pattern.h"
#include "ci/triage/smallest.h"
#include "invariants/harness/watched_runs.h"

namespace gdn {
namespace {

// Invariants run a case some ten times; what comes later repeats what came before.
constexpr size_t candidates_max = 24;

struct Candidates {
  std::vector<Case> all;
  std::set<std::string> texts;

  void add(const Case& c) {
    if (all.size() < candidates_max && texts.insert(print(c)).second) all.push_back(c);
  }
};

// The cases that the invariant makes, then the one that it was asked about; and what it says.
Verdict judge_watched(const Question& question, const Lab& lab, Candidates& candidates) {
  Verdict verdict;
  if (question.invariant != nullptr) {
    const WatchedRuns watched([&](const Lab& of, const Case& c) {
      if (&of == &lab) candidates.add(c);
    });
    verdict = judge_one(*question.invariant, question.c, lab);
  }
  candidates.all.push_back(question.c);
  return verdict;
}

// Calls that were made up may feed tokens that the case had not: where they blame an operator, the
// local check may see it on them.
std::optional<Suspicion> of_its_operator(const std::optional<Suspicion>& in_call, const Lab& lab) {
  if (in_call->op == host) return in_call;
  std::optional<Suspicion> local = suspect_operator(in_call->call->shown, lab);
  return local && local->op == in_call->op ? local : in_call;
}

std::optional<Suspicion> suspect_among(const Candidates& candidates, const Lab& lab) {
  // Of a recurrence whose arguments are not there no number says anything.
  if (auto buffer = suspect_buffer(candidates.all.back(), lab)) return buffer;
  // Calls do not matter to the local check of a layer.
  std::set<std::string> looked_at;
  std::optional<Suspicion> in_calls;
  for (const Case& c : candidates.all) {
    const bool is_batch = c.subject == Subject::recurrent;
    if (!looked_at.insert(print(is_batch ? c : c.with_calls({}))).second) continue;
    std::optional<Suspicion> here = suspect_operator(c, lab);
    if (here && here->op != host) return here;
    if (here && !in_calls) in_calls = std::move(here);
  }
  for (const Case& c : candidates.all) {
    if (!wrong_own_call(c, lab)) continue;
    if (std::optional<Suspicion> here = suspect_call(c, lab)) return of_its_operator(here, lab);
  }
  // The case that was asked about is the last one.
  if (std::optional<Suspicion> here = suspect_call(candidates.all.back(), lab)) {
    return of_its_operator(here, lab);
  }
  return in_calls;
}

// Words of statuses: what is served that should not be, or refused that should not be.
bool tells_of_refusals(const std::string& detail) {
  return detail.find("GDN_") != std::string::npos || detail.find("refus") != std::string::npos;
}

// Every number is within its bound and every call does what the model says, and yet the invariant
// fails. Its own words are what there is: the host where they tell of a call that it should have
// refused or served, else the operator of the case, or of the tensor they name.
Suspicion by_the_words(const Question& question, const Verdict& verdict) {
  Suspicion suspicion;
  suspicion.c = question.c;
  suspicion.op = host;
  suspicion.verdict = verdict;
  suspicion.by_invariant = true;
  const std::optional<OwnWords> own = own_words(verdict.detail);
  if (own && is_own_fault(verdict)) {
    suspicion.op = own->op;
    return suspicion;
  }
  if (tells_of_refusals(verdict.detail)) return suspicion;
  if (const auto op = operator_of(question.c.subject)) suspicion.op = name_of(*op);
  for (int i = 0; i < tensor_count; ++i) {
    const auto tensor = static_cast<Tensor>(i);
    const std::string word = fmt::format(" {} ", name_of(tensor));
    const std::string detail = fmt::format(" {} ", verdict.detail);
    if (detail.find(word) == std::string::npos) continue;
    suspicion.tensor = name_of(tensor);
    if (question.c.subject == Subject::layer && tensor != Tensor::S && tensor != Tensor::HIST) {
      suspicion.op = name_of(operator_of(tensor));
    }
  }
  return suspicion;
}

// An invariant that fails on the smallest case, for who replays it: the one that was asked, else
// those that judge numbers and calls in general.
const Invariant* shown_by(const Question& question, const Case& c, const Lab& lab) {
  std::vector<const Invariant*> asked = {question.invariant};
  for (const char* name : {"operators_within_bound", "calls_behave_as_modelled"}) {
    asked.push_back(invariant_named(name));
  }
  for (const Invariant* invariant : asked) {
    if (invariant == nullptr) continue;
    const Verdict verdict = judge_one(*invariant, c, lab);
    if (verdict.outcome >= Outcome::engine_error) return invariant;
  }
  return nullptr;
}

void look_into(const Suspicion& suspicion, const Candidates& candidates, const Lab& lab,
               Finding& finding) {
  if (!suspicion.in_operator) {
    std::optional<OwnWords> own = own_words(finding.verdict.detail);
    if (own && !finding.call) finding.explanations.push_back(std::move(own->cause));
    if (finding.explanations.empty()) finding.explanations = suspicion.explanations;
    return;
  }
  const std::optional<Located> found = located(suspicion.c, lab);
  const std::optional<Located> smallest = located(finding.smallest, lab);
  if (found && !found->right_alone) {
    finding.explanations = causes_of(*found, candidates.all, lab);
  }
  // A large tensor tells more of where than what is left of it in a small case.
  if (found) finding.patterns = patterns_of(found->got, found->want, found->axes);
  if (!smallest) return;
  finding.tensor = smallest->tensor;
  finding.token = smallest->token;
  finding.layer = smallest->layer;
  finding.verdict = smallest->verdict;
}

// Nobody said what fails: the first invariant that does is asked; if none, the worst of all is
// told.
Finding diagnose_by_all(const Question& question, const Lab& lab) {
  Finding finding;
  finding.engine = question.engine;
  finding.origin = question.origin;
  finding.smallest = question.c;
  for (const Invariant& invariant : registry()) {
    if (!invariant.claim.applies(question.c)) continue;
    Verdict verdict = judge_one(invariant, question.c, lab);
    if (verdict.outcome == Outcome::not_applicable) continue;
    if (verdict.outcome < Outcome::engine_error) {
      const bool first = finding.verdict.outcome == Outcome::not_applicable;
      finding.verdict = first ? verdict : both(std::move(finding.verdict), std::move(verdict));
      continue;
    }
    Question asked = question;
    asked.invariant = &invariant;
    return diagnose(asked, lab);
  }
  return finding;
}

}  // namespace

Finding diagnose(const Question& question, const Lab& lab) {
  Finding finding;
  finding.engine = question.engine;
  finding.origin = question.origin;
  finding.smallest = question.c;
  Candidates candidates;
  Verdict verdict = judge_watched(question, lab, candidates);
  std::optional<Suspicion> suspicion = suspect_among(candidates, lab);
  if (!suspicion && verdict.outcome >= Outcome::engine_error) {
    suspicion = by_the_words(question, verdict);
  }
  finding.verdict = std::move(verdict);
  if (question.invariant != nullptr) finding.invariant = question.invariant->name;
  if (!suspicion && question.invariant == nullptr) return diagnose_by_all(question, lab);
  if (!suspicion) return finding;
  finding.op = suspicion->op;
  finding.tensor = suspicion->tensor;
  finding.verdict = suspicion->verdict;
  finding.notes = suspicion->notes;
  finding.call = suspicion->call;
  const Smallest small = make_smallest(*suspicion, question.invariant, lab);
  finding.smallest = small.c;
  finding.steps = small.steps;
  if (small.call) finding.call = small.call;
  if (finding.call) finding.verdict = finding.call->verdict;
  if (finding.call && !finding.call->setting.empty()) {
    finding.notes.push_back(
        fmt::format("it is seen {}, which a case cannot say: its replay may not show it, and it "
                    "keeps all calls",
                    finding.call->setting));
  }
  look_into(*suspicion, candidates, lab, finding);
  const Invariant* const shown = shown_by(question, finding.smallest, lab);
  finding.invariant = shown == nullptr ? "" : shown->name;
  return finding;
}

}  // namespace gdn
