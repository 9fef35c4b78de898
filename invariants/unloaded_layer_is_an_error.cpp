// Claim:   a layer without weights, or without projections, refuses tokens; so does forward then.
// Why:     zeros from a layer that was forgotten look like a model that has nothing to say.
// Bound:   none: NOT_LOADED; all states and the next steps of the other layers in equal bits.
// Origin:  a missing layer that passed its input on; a forward that stopped half way down.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& given, const Lab& lab) {
  const Case c = with_layers(given, 2);
  Rng rng = Rng{c.seed}.stream("unloaded layer");
  const int64_t without = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = rng.range(1, std::min<int64_t>(c.tokens, 3));
  const bool has_small_tensors = rng.range(0, 1) == 1;

  std::vector<Call> before;
  for (Call call : setup_calls(c)) {
    if (takes(call.kind, A::layer) && call.at(A::layer) == without) {
      if (!has_small_tensors || call.kind != CallKind::load_layer_f32) continue;
      call.omit = {"qkv", "z", "out"};
    }
    before.push_back(std::move(call));
  }
  std::vector<Call> steps;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    if (layer != without) steps.push_back(made::step(layer, 0));
  }
  made::append(before, steps);

  const std::string what = has_small_tensors ? "a layer that has no projections, " : "no weights, ";
  std::vector<WrongCall> wrong;
  for (Call call :
       {made::step(without, 0), made::run(without, 0, tokens), made::forward(0, tokens)}) {
    call.reads.clear();
    if (!is_served(c, lab, call)) continue;
    wrong.push_back({call, GDN_NOT_LOADED, what + "layer " + std::to_string(without)});
  }
  return refused_without_trace(c, lab, before, wrong, steps);
}

const Registered self{
    {.claim = "a layer without weights refuses tokens, and forward with it",
     .applies = applies,
     .check = check,
     .kills = {"unloaded_layer_gives_zeros", "forward_touches_before_it_checks"}}};

}  // namespace
}  // namespace gdn
