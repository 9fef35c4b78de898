// Claim:   a layer is loaded with all six small tensors, and with the three large ones or none.
// Why:     what is missing cannot be computed with, and whatever stands in for it goes unnoticed.
// Bound:   none: INVALID_ARGUMENT; the load that follows gives the bits that it would have given.
// Origin:  a checkpoint without its norm weight, which an engine took for ones.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  const bool has_large = c.weights == Weights::f32;
  std::vector<WrongCall> wrong;
  const auto add = [&](std::set<std::string> omit, std::string what) {
    if (!has_large) omit.insert({"qkv", "z", "out"});
    wrong.push_back({call_of(CallKind::load_layer_f32, {}, std::move(omit)), GDN_INVALID_ARGUMENT,
                     std::move(what)});
  };
  for (const char* small : {"b", "a", "conv", "A_log", "dt_bias", "norm"}) {
    add({small}, std::string("no ") + small);
  }
  if (has_large) {
    for (const std::string large : {"qkv", "z", "out"}) {
      std::set<std::string> others = {"qkv", "z", "out"};
      others.erase(large);
      add({large}, "no " + large);
      add(others, large + " alone of the large");
    }
  }
  const Call step = call_of(CallKind::step, {{Argument::first_token, 0}});
  wrong.push_back({step, GDN_NOT_LOADED, "a layer whose loading was refused"});
  std::vector<Call> after = setup_calls(c);
  made::append(after, steps_of_all_layers(c, 0));
  return refused_without_trace(c, lab, {}, wrong, after);
}

const Registered self{{.claim = "a layer is not loaded without its small tensors",
                       .applies = applies,
                       .check = check,
                       .kills = {"missing_norm_weight_taken_as_ones"}}};

}  // namespace
}  // namespace gdn
