// Claim:   a layer that is loaded refuses to be loaded again, before it asks for memory.
// Why:     the weights of a layer change through unload_layer alone, which zeroes its state.
// Bound:   none: ALREADY_LOADED; all states and the next steps in equal bits.
// Origin:  a second load that replaced the weights under a state that the first ones had made.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& given, const Lab& lab) {
  const Case c = with_layers(given, 2);
  Rng rng = Rng{c.seed}.stream("loaded twice");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t other = (layer + 1) % c.shape.num_layers;
  const auto again = [layer](int64_t weights, std::set<std::string> omit, std::string what) {
    return WrongCall{call_of(CallKind::load_layer_f32, {{A::layer, layer}, {A::weights, weights}},
                             std::move(omit)),
                     GDN_ALREADY_LOADED, std::move(what), true};
  };
  const std::vector<WrongCall> wrong = {again(layer, {}, "the weights that it has"),
                                        again(other, {}, "other weights"),
                                        again(other, {"qkv", "z", "out"}, "other small tensors")};
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  return refused_without_trace(c, lab, before, wrong, steps_of_all_layers(c, c.tokens - 1));
}

const Registered self{{.claim = "a loaded layer refuses to be loaded again",
                       .applies = applies,
                       .check = check,
                       .kills = {"refused_load_replaces_weights", "refused_load_allocates"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
