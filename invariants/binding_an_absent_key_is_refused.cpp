// Claim:   a binding with a key that is not in the pool is refused whole, whichever of the three.
// Why:     all or nothing: what was bound stays bound, and what was unbound stays unbound.
// Bound:   none: NOT_FOUND; all states and the next steps in equal bits.
// Origin:  keys stored as they were looked up, so that a failure left one new and two old ones.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

// The keys of layer 1, one of them replaced by one that nobody put.
std::vector<WrongCall> bindings_of_layer_0(Rng& rng, std::string to) {
  std::vector<WrongCall> wrong;
  for (const A absent : {A::key_qkv, A::key_z, A::key_out}) {
    Call bind = call_of(CallKind::bind_q4, {{A::key_qkv, 4}, {A::key_z, 5}, {A::key_out, 6}});
    bind.given[absent] = rng.range(1'000'000, int64_t{1} << 62);
    wrong.push_back(
        {bind, GDN_NOT_FOUND, "an absent " + std::string(rule_of(absent).name) + ", beside " + to});
  }
  return wrong;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = with_layers(given, 2);
  Rng rng = Rng{c.seed}.stream("absent keys");
  std::vector<Call> bound = setup_calls(c);
  made::append(bound, steps_of_all_layers(c, 0));
  const std::vector<Call> after = steps_of_all_layers(c, c.tokens - 1);

  std::vector<Call> unbound;
  std::vector<Call> later;
  for (const Call& call : setup_calls(c)) {
    (call.kind == CallKind::bind_q4 ? later : unbound).push_back(call);
  }
  made::append(later, after);
  std::vector<WrongCall> nothing_bound = bindings_of_layer_0(rng, "no binding");
  nothing_bound.push_back({call_of(CallKind::step, {{A::first_token, 0}}), GDN_NOT_LOADED,
                           "a layer whose binding was refused"});
  return both(refused_without_trace(c, lab, bound, bindings_of_layer_0(rng, "a binding"), after),
              refused_without_trace(c, lab, unbound, nothing_bound, later));
}

const Registered self{
    {.claim = "a binding with an absent key is refused whole",
     .applies = applies,
     .check = check,
     .kills = {"absent_key_binds_nothing_silently", "half_of_a_failed_binding_stays"}}};

}  // namespace
}  // namespace gdn
