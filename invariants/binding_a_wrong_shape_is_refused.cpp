// Claim:   a matrix of the pool binds only where it has exactly the rows and columns that are due.
// Why:     a projection reads as many tiles as its own shape says, whatever lies under the key.
// Bound:   none: INVALID_ARGUMENT; all states and the next steps in equal bits.
// Origin:  keys of z and out mixed up, which only differ where hidden_size and vh vd do.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

// Beyond the keys that set-up gives the layers' matrices.
constexpr int64_t first_own_key = int64_t{1} << 20;

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
  const auto init = std::find_if(before.begin(), before.end(),
                                 [](const Call& call) { return call.kind == CallKind::pool_init; });
  std::vector<Call> puts;
  int64_t bytes = 0;
  for (int64_t due = 0; due < 3; ++due) {
    bytes += s.num_layers * q4_bytes(rows[due], cols[due]);
    // Wrong in one dimension alone.
    for (const auto& [more_rows, more_cols] :
         {std::pair(q4_tile_rows, int64_t{0}), std::pair(int64_t{0}, q4_block_weights)}) {
      const int64_t key = first_own_key + std::ssize(puts);
      const int64_t its_rows = rows[due] + more_rows;
      const int64_t its_cols = cols[due] + more_cols;
      bytes += q4_bytes(its_rows, its_cols);
      puts.push_back(
          call_of(CallKind::pool_put,
                  {{A::matrix, due}, {A::key, key}, {A::rows, its_rows}, {A::cols, its_cols}}));
      wrong.push_back({call_of(CallKind::bind_q4, {{keys[due], key}}), GDN_INVALID_ARGUMENT,
                       std::string(rule_of(keys[due]).name) + " of a matrix of " +
                           std::to_string(its_rows) + " x " + std::to_string(its_cols)});
    }
  }
  init->given[A::bytes] = bytes;
  before.insert(init + 1, puts.begin(), puts.end());
  return refused_without_trace(c, lab, before, wrong, steps_of_all_layers(c, c.tokens - 1));
}

const Registered self{{.claim = "a matrix of another shape cannot be bound",
                       .applies = applies,
                       .check = check,
                       .kills = {"shapes_of_bound_keys_unchecked"}}};

}  // namespace
}  // namespace gdn
