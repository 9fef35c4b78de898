// Claim:   a layer never has both float32 projections and a binding: the second is refused.
// Why:     with both, which one a step computes with is nobody's choice, and the other leaks.
// Bound:   none: equal bits of all states and of the next steps; a refused load asks for no memory.
// Origin:  a binding that silently won over loaded weights, which nothing released afterwards.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.tokens >= 1 && fits_tiles(c.shape);
}

// Layer 0 with or without float32 projections; matrices of the right shapes under keys 1, 2 and 3.
std::vector<Call> layer_and_pool(const Case& c, bool with_projections) {
  const Shape& s = c.shape;
  const int64_t bytes = q4_bytes(s.conv_dim(), s.hidden_size) + q4_bytes(s.v_dim(), s.hidden_size) +
                        q4_bytes(s.hidden_size, s.v_dim());
  std::vector<Call> calls = {call_of(CallKind::load_layer_f32), call_of(CallKind::load_layer_f32)};
  calls[0].given[A::layer] = 1;
  if (!with_projections) calls[1].omit = {"qkv", "z", "out"};
  calls.push_back(call_of(CallKind::pool_init, {{A::bytes, bytes}}));
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    calls.push_back(call_of(CallKind::pool_put, {{A::matrix, matrix}, {A::key, 1 + matrix}}));
  }
  return calls;
}

Verdict check(const Case& given, const Lab& lab) {
  Case c = with_layers(given, 2);
  c.weights = Weights::f32;
  const int64_t token = Rng{c.seed}.stream("token").range(0, c.tokens - 1);
  const Call bind = call_of(CallKind::bind_q4, {{A::key_qkv, 1}, {A::key_z, 2}, {A::key_out, 3}});
  const std::vector<Call> steps = {made::step(0, token), made::step(1, token), made::step(0, 0)};

  std::vector<Call> loaded = layer_and_pool(c, true);
  loaded.push_back(made::step(0, 0));
  const WrongCall binding{bind, GDN_OK, "keys beside float32 projections", true};
  std::vector<Call> bound = layer_and_pool(c, false);
  bound.push_back(bind);
  bound.push_back(made::step(0, 0));
  const std::vector<WrongCall> loading = {
      {call_of(CallKind::load_layer_f32), GDN_ALREADY_LOADED, "projections beside a binding", true},
      {call_of(CallKind::load_layer_f32, {{A::weights, 1}}), GDN_ALREADY_LOADED,
       "other weights beside a binding", true}};
  return both(refused_without_trace(c, lab, loaded, {binding}, steps),
              refused_without_trace(c, lab, bound, loading, steps));
}

const Registered self{
    {.claim = "float32 projections and a binding exclude each other, in either order",
     .applies = applies,
     .check = check,
     .kills = {"both_weights_accepted", "refused_load_allocates", "refused_load_replaces_weights"},
     .one_in = 2}};

}  // namespace
}  // namespace gdn
