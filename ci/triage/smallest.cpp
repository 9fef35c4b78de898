// Suspicions, and greedy descent to the smallest case that raises the same one.
#include "ci/triage/smallest.h"

#include <fmt/format.h>

#include "ci/judging.h"
#include "ci/triage/batch.h"
#include "ci/triage/calls_beside.h"
#include "ci/triage/own_words.h"
#include "invariants/harness/shrink.h"

namespace gdn {
namespace {

constexpr size_t tries_max = 1000;
// Multiply-adds of the reference, a few nanoseconds each: a descent ends within some ten seconds.
constexpr double work_max = 2e9;

double work_of(const Case& c) {
  const Shape& s = c.shape;
  const auto of = [](int64_t a, int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const double projections = of(s.hidden_size, s.conv_dim() + 2 * s.v_dim() + 2 * s.num_v_heads);
  const double state = 8 * static_cast<double>(s.state_count());
  double work = of(c.rows, c.cols) + static_cast<double>(c.tokens + 1) * state;
  if (c.subject != Subject::layer) return work;
  work += static_cast<double>(c.tokens) * projections;
  return work * static_cast<double>(s.num_layers);
}

// Both projections are one operator where the same numbers are wrong through the other as well: the
// first in the order of operators is named.
void ask_as_in_proj(const Lab& lab, const Located& at, Suspicion& suspicion) {
  if (at.op != Operator::out_proj || at.run.tokens.empty()) return;
  Case other = case_alone(suspicion.c, at.run, at.run.tokens[static_cast<size_t>(at.token)]);
  other.subject = Subject::in_proj;
  const Localised asked = localise_operator(other, lab, false);
  if (!asked.first) return;
  suspicion.op = name_of(Operator::in_proj);
  suspicion.notes.push_back(
      fmt::format("{} of out_proj is out of budget, and in_proj gives as much on the same numbers: "
                  "the projections share the fault",
                  at.tensor));
}

bool is_same(const CallFinding& a, const CallFinding& b) {
  const auto first_of = [](const CallFinding& call) {
    return call.causes.empty() ? std::string() : call.causes.front();
  };
  return a.op == b.op && first_of(a) == first_of(b) &&
         (!a.causes.empty() || (a.kind == b.kind && a.tensor == b.tensor));
}

// Layers of one head as small as can be, then a little larger; the last ones fill 4-bit tiles.
std::vector<Case> small_layers(const Case& like) {
  std::vector<Case> layers;
  for (const int64_t tokens : {1, 2, 3, 4}) {
    for (const int64_t channels : {2, 32}) {
      Case c;
      c.seed = like.seed;
      c.shape = {.hidden_size = channels,
                 .num_k_heads = 1,
                 .head_k_dim = 2,
                 .num_v_heads = 1,
                 .head_v_dim = channels,
                 .conv_kernel = 3};
      c.tokens = tokens;
      if (channels == 32) c.weights = Weights::q4;
      layers.push_back(std::move(c));
    }
  }
  return layers;
}

// With fewer calls, while these alone still show the same.
Smallest with_fewer_calls(const CallFinding& call, const Lab& lab) {
  Smallest small = {call.shown, 0, call};
  // What a case cannot say (a second handle, refused allocations) would be lost.
  if (!call.setting.empty()) return small;
  const auto same = [&](const Case& c) {
    const std::optional<CallFinding> here = wrong_own_call(c, lab);
    return here && is_same(*here, call);
  };
  if (!same(call.shown)) return small;
  constexpr size_t calls_tries_max = 300;
  const Shrunk shrunk = shrink(call.shown, same, calls_tries_max);
  small.c = shrunk.smallest;
  small.steps = shrunk.accepted;
  small.call = wrong_own_call(small.c, lab);
  return small;
}

Smallest smallest_call(const Suspicion& suspicion, const Lab& lab) {
  for (const Case& c : small_layers(suspicion.c)) {
    const std::optional<CallFinding> here = first_wrong_call(c, lab);
    if (here && is_same(*here, *suspicion.call)) return with_fewer_calls(*here, lab);
  }
  return with_fewer_calls(*suspicion.call, lab);
}

// By its name; empty where the engine said nothing of one.
std::string own_cause(const Verdict& verdict) {
  const std::optional<OwnWords> own = own_words(verdict.detail);
  return own ? own->cause.name : "";
}

std::string first_name(const std::vector<Explanation>& explanations) {
  return explanations.empty() ? "" : explanations.front().name;
}

// An operator on its own that writes where it should not, or meets a fault in itself, answers for
// that; and so does whichever the engine itself names.
std::string blamed(const Case& c, const Verdict& served) {
  if (is_own_fault(served)) {
    if (const std::optional<OwnWords> own = own_words(served.detail)) return own->op;
  }
  const std::optional<Operator> own = operator_of(c.subject);
  const bool blames_own = own && (served.outcome == Outcome::fails || is_own_fault(served));
  return blames_own ? std::string(name_of(*own)) : host;
}

// What a kernel did in the calls of a recurrence, which localise does not make: some may be wrong
// on purpose, and are refused.
Verdict fault_in_a_batch(const Case& c, const Lab& lab) {
  if (c.subject != Subject::recurrent || c.calls.empty()) return {};
  Verdict served = lab.run(c).served();
  return is_own_fault(served) && own_words(served.detail) ? served : Verdict{};
}

// Each sequence of a wrong call is asked alone. One that is wrong there too is an operator's; where
// none is, the call does not find their tokens or states.
std::optional<Suspicion> suspect_batch(const Case& c, const Lab& lab) {
  const std::optional<WrongBatch> wrong = first_wrong_batch(c, lab);
  if (!wrong) return std::nullopt;
  const std::string where = fmt::format("call {}", wrong->call + 1);
  for (const BatchSequence& sequence : wrong->batch.sequences) {
    if (sequence.is_padding) continue;
    std::optional<Suspicion> alone = suspect_operator(sequence_alone(c, *wrong, sequence), lab);
    if (!alone) continue;
    alone->notes.push_back(
        fmt::format("it is sequence {} of {}, which is as wrong alone", sequence.index, where));
    return alone;
  }
  Suspicion suspicion;
  suspicion.c = c;
  suspicion.op = host;
  if (!wrong->array.empty()) suspicion.tensor = tensor_of(Operator::delta_rule, wrong->array);
  suspicion.verdict = wrong->verdict;
  suspicion.verdict.detail = where + ", " + suspicion.verdict.detail;
  suspicion.explanations = explanations_of(c, *wrong, lab);
  suspicion.notes.push_back(
      fmt::format("each sequence of {} is right alone, from the state that its slot held: what is "
                  "wrong is how the call finds tokens, slots or outputs",
                  where));
  return suspicion;
}

std::optional<Suspicion> in_call(const Case& c, std::optional<CallFinding> call) {
  if (!call) return std::nullopt;
  Suspicion suspicion;
  suspicion.c = c;
  suspicion.op = call->op;
  suspicion.tensor = call->tensor;
  suspicion.verdict = call->verdict;
  suspicion.call = std::move(call);
  return suspicion;
}

}  // namespace

std::optional<Located> located(const Case& c, const Lab& lab) {
  return localise(c, lab, true).first;
}

std::optional<Suspicion> suspect_operator(const Case& c, const Lab& lab) {
  const bool may_be_shared = c.subject == Subject::layer || c.subject == Subject::out_proj;
  const Localised localised = localise(c, lab, may_be_shared);
  Suspicion suspicion;
  suspicion.c = c;
  if (!localised.first) {
    Verdict served = localised.served;
    if (served.holds()) served = fault_in_a_batch(c, lab);
    if (served.outcome < Outcome::engine_error) return suspect_batch(c, lab);
    suspicion.op = blamed(c, served);
    suspicion.verdict = std::move(served);
    return suspicion;
  }
  const Located& at = *localised.first;
  suspicion.op = name_of(at.op);
  suspicion.tensor = at.tensor;
  suspicion.verdict = at.verdict;
  suspicion.in_operator = true;
  if (at.right_alone) {
    suspicion.notes.push_back(fmt::format(
        "{} alone is right on the numbers of token {}: what is wrong is how the calls lead to it",
        suspicion.op, at.token));
    suspicion.op = host;
  }
  ask_as_in_proj(lab, at, suspicion);
  return suspicion;
}

std::optional<Suspicion> suspect_call(const Case& c, const Lab& lab) {
  return in_call(c, first_wrong_call(c, lab));
}

std::optional<Suspicion> suspect_buffer(const Case& c, const Lab& lab) {
  if (c.subject != Subject::recurrent) return std::nullopt;
  return in_call(c, wrong_buffer(small_layers(c).front(), lab));
}

Smallest make_smallest(const Suspicion& suspicion, const Invariant* invariant, const Lab& lab) {
  if (suspicion.call) return smallest_call(suspicion, lab);
  double work = 0;
  const auto same = [&](const Case& c) {
    work += work_of(c);
    if (work > work_max) return false;
    if (suspicion.by_invariant) {
      return judge_one(*invariant, c, lab).outcome == suspicion.verdict.outcome;
    }
    const std::optional<Suspicion> here = suspect_operator(c, lab);
    return here && here->op == suspicion.op && here->tensor == suspicion.tensor &&
           here->in_operator == suspicion.in_operator &&
           first_name(here->explanations) == first_name(suspicion.explanations) &&
           own_cause(here->verdict) == own_cause(suspicion.verdict);
  };
  const Shrunk shrunk = shrink(suspicion.c, same, tries_max);
  return {shrunk.smallest, shrunk.accepted, std::nullopt};
}

}  // namespace gdn
