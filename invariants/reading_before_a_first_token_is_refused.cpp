// Claim:   before a first token, and after reset, unload, import and rollback, only S and HIST are
//          there to be read; the other tensors are refused, and their counts are not.
// Why:     the others belong to the last token, and a state from elsewhere has none.
// Bound:   none: NO_TOKEN; S and HIST are +0 or -0 where nothing has been seen.
// Origin:  tensors of the sequence before, read as if they were of the one at hand.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// Calls after each of which layer 0 has no token; step stands between them.
struct Stage {
  const char* after;
  std::vector<Call> calls;
  bool is_zero;
};

std::vector<Stage> stages(const Case& c, const Lab& lab) {
  const Call step = call_of(K::step, {{A::first_token, 0}});
  std::vector<Call> again = {call_of(K::unload_layer)};
  made::append(again, made::load_again(c, 0));
  const std::vector<Stage> all = {
      {"set-up", setup_calls(c), true},
      {"a run of no tokens", {call_of(K::run, {{A::first_token, 0}, {A::tokens, 0}})}, true},
      {"reset", {step, call_of(K::reset)}, true},
      {"reset of all", {step, call_of(K::reset, {{A::layer, -1}})}, true},
      {"import", {step, call_of(K::state_export), step, call_of(K::state_import)}, false},
      {"rollback", {step, call_of(K::snapshot), step, call_of(K::rollback)}, false},
      {"unload", {step, call_of(K::unload_layer)}, true},
      {"loading again", made::load_again(c, 0), true},
      {"a load after an unload", again, true},
  };
  const bool unloads = is_served(c, lab, call_of(K::unload_layer));
  std::vector<Stage> served;
  for (const Stage& stage : all) {
    // Only what was unloaded can be loaded again.
    bool is = unloads || stage.after != std::string("loading again");
    for (const Call& call : stage.calls) is = is && is_served(c, lab, call);
    if (is) served.push_back(stage);
  }
  return served;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  Rng rng = Rng{c.seed}.stream("no token");
  const auto tensor = rng.range(0, static_cast<int64_t>(Tensor::OUT));
  const Call read = call_of(K::read, {{A::tensor, tensor}});
  const Call count = call_of(K::read, {{A::tensor, tensor}, {A::capacity, -2}});
  // An engine that does not observe has none of these tensors at any time.
  const bool observes = lab.description().options.contains("observe");
  const WrongCall wrong{read, observes ? GDN_NO_TOKEN : GDN_OK,
                        std::string(name_of(static_cast<Tensor>(tensor)))};
  Verdict closed;
  std::optional<Session> session = lab.open(c, 1, {}, &closed);
  if (!session) return closed;
  Verdict all = claim(true, "");
  const auto right = [&](const Call& call, const std::string& where) {
    const CallObserved& seen = session->call(call);
    if (!seen.ok()) all = both(std::move(all), refusal(seen.status, where + ": " + seen.text));
    return seen;
  };
  for (const Stage& stage : stages(c, lab)) {
    const std::string where = std::string("after ") + stage.after;
    for (const Call& call : stage.calls) right(call, where);
    right(count, where + ", the count");
    Verdict no_token = refused(session->call(read), wrong);
    if (!no_token.holds()) no_token.detail = where + ", " + no_token.detail;
    all = both(std::move(all), std::move(no_token));
    for (const auto& [state, values] : right(made::state(0), where).reads) {
      if (!stage.is_zero) continue;
      bool zero = true;
      for (const float x : values) zero = zero && x == 0;
      all = both(std::move(all), claim(zero, where + ", " + std::string(name_of(state)) +
                                                 ": expected zeros, got other numbers"));
    }
  }
  return both(std::move(all), std::move(*session).finish().conduct);
}

const Registered self{{.claim = "before a first token only S and HIST can be read",
                       .applies = applies,
                       .check = check,
                       .kills = {"stale_tensors_after_reset"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
