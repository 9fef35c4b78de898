// Claim:   apply takes arrays of exactly the operator's counts, each once, none of them null.
// Why:     counts are all that an engine knows of its caller's memory; of two arrays of one name
//          neither is the one that is meant.
// Bound:   none: INVALID_ARGUMENT, no output written; the right call gives its bits as before.
// Origin:  counts taken from the shape, so that a short array was read beyond its end.
#include <array>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer; }

// The arrays of each operator, in the order of gdn_operator; hist has no elements at ck = 1.
const std::array<std::vector<std::string>, 7> names = {{{"x", "weight", "y"},
                                                        {"a", "b", "A_log", "dt_bias", "beta", "g"},
                                                        {"x", "hist", "weight", "y"},
                                                        {"q", "k"},
                                                        {"q", "k", "v", "beta", "S", "o"},
                                                        {"o", "z", "weight", "y"},
                                                        {"x", "weight", "y"}}};

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  Rng rng = Rng{c.seed}.stream("arrays");
  std::vector<int64_t> served;
  for (int64_t op = 0; op < std::ssize(names); ++op) {
    if (is_served(c, lab, call_of(CallKind::apply, {{A::op, op}}))) served.push_back(op);
  }
  if (served.empty()) return {};
  const int64_t op = served[static_cast<size_t>(rng.range(0, std::ssize(served) - 1))];
  const Call right = call_of(CallKind::apply, {{A::op, op}});
  const std::string of = " of operator " + std::to_string(op);
  std::vector<WrongCall> wrong;
  const auto add = [&](Call call, const std::string& what) {
    wrong.push_back({std::move(call), GDN_INVALID_ARGUMENT, what + of});
  };
  for (const int64_t off : {int64_t{1}, rng.range(2, 4)}) {
    Call call = right;
    call.given[A::count_off] = off;
    add(call, "counts " + std::to_string(off) + " too large");
  }
  // A projection's counts speak for themselves: less of all can be a right, smaller one.
  const bool projects = op == 0 || op == 6;
  if (!projects) {
    Call call = right;
    call.given[A::count_off] = -rng.range(1, 4);
    add(call, "counts too small");
  }
  for (const std::string& name : names[static_cast<size_t>(op)]) {
    if (name == "hist" && c.shape.conv_kernel == 1) continue;
    Call call = right;
    call.omit = {name};
    add(call, "a null " + name);
    add(right, name + " given twice");
    wrong.back().altered.given_twice = name;
  }
  if (projects && c.dialect.activation == Dialect::Activation::q8_0) {
    // A matrix of half a block less: right for float32, and here its last block is not whole.
    const Case beside = beside_the_layers(c, right);
    add(right, "a last block of 16 activations");
    wrong.back().altered.fewer = {{"x", 16}, {"weight", 16 * beside.rows}};
  }
  add(call_of(CallKind::apply, {{A::op, rng.range(7, 1000)}}), "no such operator, in place");
  add(call_of(CallKind::apply, {{A::op, -rng.range(2, 1000)}}), "no such operator, in place");
  return refused_without_trace(c, lab, {right}, wrong, {right});
}

const Registered self{{.claim = "apply takes arrays of exactly the operator's counts",
                       .applies = applies,
                       .check = check,
                       .kills = {"apply_ignores_counts"}}};

}  // namespace
}  // namespace gdn
