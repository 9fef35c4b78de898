// Claim:   a matrix of the pool binds only where it has exactly the rows and columns that are due.
// Why:     a projection reads as many tiles as its own shape says, whatever lies under the key.
// Bound:   none: INVALID_ARGUMENT; all states and the next steps in equal bits.
// Origin:  keys of z and out mixed up, which only differ where hidden_size and vh vd do.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  const Shape& s = c.shape;
  const int64_t rows[] = {s.conv_dim(), s.v_dim(), s.hidden_size};
  const int64_t cols[] = {s.hidden_size, s.hidden_size, s.v_dim()};
  const A keys[] = {A::key_qkv, A::key_z, A::key_out};
  std::vector<WrongCall> wrong;
  for (int64_t due = 0; due < 3; ++due) {
    for (int64_t other = 0; other < 3; ++other) {
      if (rows[due] == rows[other] && cols[due] == cols[other]) continue;
      const std::string key(rule_of(keys[due]).name);
      wrong.push_back({call_of(CallKind::bind_q4, {{keys[due], 1 + other}}), GDN_INVALID_ARGUMENT,
                       key + " of a matrix of " + std::to_string(rows[other]) + " x " +
                           std::to_string(cols[other])});
    }
  }
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  return refused_without_trace(c, lab, before, wrong, steps_of_all_layers(c, c.tokens - 1));
}

const Registered self{{.claim = "a matrix of another shape cannot be bound",
                       .applies = applies,
                       .check = check,
                       .kills = {"shapes_of_bound_keys_unchecked"}}};

}  // namespace
}  // namespace gdn
