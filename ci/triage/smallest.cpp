// Suspicions, and greedy descent to the smallest case that raises the same one.
#include "ci/triage/smallest.h"

#include <fmt/format.h>

#include "ci/judging.h"
#include "invariants/harness/shrink.h"

namespace gdn {
namespace {

constexpr size_t tries_max = 1000;
// Multiply-adds of the reference, a few nanoseconds each: a descent ends within some ten seconds.
constexpr double work_max = 2e9;

double work_of(const Case& c) {
  const Shape& s = c.shape;
  const auto of = [](int64_t a, int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
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
    if (localised.served.outcome < Outcome::engine_error) return std::nullopt;
    suspicion.op = host;
    suspicion.verdict = localised.served;
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
  if (c.subject != Subject::layer || c.calls.empty()) return std::nullopt;
  std::optional<CallFinding> call = first_wrong_call(c, lab);
  if (!call) return std::nullopt;
  Suspicion suspicion;
  suspicion.c = c;
  suspicion.op = call->op;
  suspicion.tensor = call->tensor;
  suspicion.verdict = call->verdict;
  suspicion.call = std::move(call);
  return suspicion;
}

Smallest make_smallest(const Suspicion& suspicion, const Invariant* invariant, const Lab& lab) {
  double work = 0;
  const auto same = [&](const Case& c) {
    work += work_of(c);
    if (work > work_max) return false;
    if (suspicion.by_invariant) {
      return judge_one(*invariant, c, lab).outcome == suspicion.verdict.outcome;
    }
    const std::optional<Suspicion> here =
        suspicion.call ? suspect_call(c, lab) : suspect_operator(c, lab);
    if (!here || here->op != suspicion.op || here->tensor != suspicion.tensor) return false;
    if (!suspicion.call) return here->in_operator == suspicion.in_operator;
    return here->call->kind == suspicion.call->kind && here->call->causes == suspicion.call->causes;
  };
  const Shrunk shrunk = shrink(suspicion.c, same, tries_max);
  Smallest small = {shrunk.smallest, shrunk.accepted, std::nullopt};
  if (suspicion.call) small.call = first_wrong_call(small.c, lab);
  return small;
}

}  // namespace gdn
