// Claim:   a key of the pool is put once; a second put is refused and the first one's bytes stay.
// Why:     layers are bound to what stands under a key, and would compute with the new bytes.
// Bound:   none: ALREADY_LOADED; the bytes of the pool and the next steps in equal bits.
// Origin:  a put of equal shape that wrote over the matrix that a layer was bound to.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = with_layers(given, 2);
  const Shape& s = c.shape;
  const int64_t layer_bytes = q4_bytes(s.conv_dim(), s.hidden_size) +
                              q4_bytes(s.v_dim(), s.hidden_size) +
                              q4_bytes(s.hidden_size, s.v_dim());
  std::vector<Call> before = setup_calls(c);
  for (Call& call : before) {
    // Twice what is put, so that room is no reason to refuse.
    if (call.kind == K::pool_init) call.given[A::bytes] = 2 * layer_bytes * s.num_layers;
  }
  made::append(before, steps_of_all_layers(c, 0));
  const int64_t matrix = Rng{c.seed}.stream("put twice").range(0, 2);
  const Call same = call_of(K::pool_put, {{A::weights, 0}, {A::matrix, matrix}});
  Call other = call_of(K::pool_put, {{A::weights, 1}, {A::matrix, matrix}, {A::key, 1 + matrix}});
  Call smaller = other;
  smaller.given.insert({{A::rows, q4_tile_rows}, {A::cols, q4_block_weights}});
  const std::vector<WrongCall> wrong = {
      {same, GDN_ALREADY_LOADED, "a key that is present, and the same bytes"},
      {other, GDN_ALREADY_LOADED, "a key that is present, and other bytes"},
      {smaller, GDN_ALREADY_LOADED, "a key that is present, and another shape"}};
  std::vector<Call> after = pool_reads(c);
  made::append(after, steps_of_all_layers(c, c.tokens - 1));
  return refused_without_trace(c, lab, before, wrong, after);
}

const Registered self{{.claim = "a key of the pool is put once",
                       .applies = applies,
                       .check = check,
                       .kills = {"second_put_overwrites"}}};

}  // namespace
}  // namespace gdn
