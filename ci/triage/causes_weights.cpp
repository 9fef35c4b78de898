// Causes: which weights a layer computes with, after loads and bindings that were served or not.
#include <algorithm>

#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

constexpr A keys[] = {A::key_qkv, A::key_z, A::key_out};

const LayerLife* layer_before(const Scene& s, int64_t layer) {
  const std::vector<LayerLife>& layers = s.before.layers();
  return layer >= 0 && layer < std::ssize(layers) ? &layers[static_cast<size_t>(layer)] : nullptr;
}

int64_t key_of(const Call& bind, size_t matrix) {
  const int64_t given = bind.at(keys[matrix]);
  return given >= 0 ? given : LifeModel::own_key(bind.at(A::layer), static_cast<int64_t>(matrix));
}

bool lacks_a_key(const Scene& s) {
  for (size_t matrix = 0; matrix < 3; ++matrix) {
    if (!s.before.pool().contains(key_of(s.call, matrix))) return true;
  }
  return false;
}

bool bind_served(const Scene& s) { return s.is(What::served) && s.is(K::bind_q4); }

bool is_absent_bound(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  return bind_served(s) && layer != nullptr && !layer->has_f32 && lacks_a_key(s);
}
const RegisteredCause absent{{.name = "absent_key_binds_nothing_silently",
                              .sentence = "a binding with a key that is not there is served",
                              .is_it = is_absent_bound}};

bool is_both(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  return bind_served(s) && layer != nullptr && layer->has_f32 && !lacks_a_key(s);
}
const RegisteredCause both{{.name = "both_weights_accepted",
                            .sentence = "a layer with float32 projections is bound to keys",
                            .is_it = is_both}};

bool is_other_shape(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  return bind_served(s) && layer != nullptr && layer->loaded && !layer->has_f32 && !lacks_a_key(s);
}
const RegisteredCause shapes{{.name = "shapes_of_bound_keys_unchecked",
                              .sentence = "a binding to a matrix of another shape is served",
                              .is_it = is_other_shape}};

// The last refusal, where it is of this kind and about the layer that this call feeds.
size_t last_refused(const Scene& s, K kind) {
  const size_t last = s.last_refusal();
  if (last == Scene::npos) return last;
  const Call& call = s.trace.calls[last].asked.call;
  return call.kind == kind && call.at(A::layer) == s.layer() ? last : Scene::npos;
}

bool is_binding_lost(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  return s.is(What::not_served) && s.feeds() && s.now.seen.status == GDN_NOT_LOADED &&
         layer != nullptr && layer->bound && last_refused(s, K::bind_q4) != Scene::npos;
}
const RegisteredCause lost{{.name = "failed_bind_drops_old_binding",
                            .sentence = "a refused binding has dropped the one there was",
                            .is_it = is_binding_lost}};

// Is the state as if the tokens of this call had met these weights?
bool fits(const Scene& s, const WeightsUsed& weights) {
  if (s.now.life.tokens.empty()) return false;
  std::vector<Fed> fed = s.trace.fed;
  size_t place = fed[s.now.life.tokens.front()].before;
  for (const size_t token : s.now.life.tokens) {
    const Fed was = fed[token];
    if (was.out_of > 0) return false;
    place = with_token(fed, place, weights, was.row);
  }
  return s.follows(fed, place, s.layer(), {Tensor::S, Tensor::HIST});
}

bool fed_wrongly(const Scene& s) {
  return s.is(What::numbers) && (s.is(K::step) || s.is(K::run)) && s.now.seen.ok() &&
         (s.at.wrong.contains(s.layer()) || s.at.wrong_arrays.contains("out"));
}

// Keys of the refused binding up to the first that was not there, the old ones from there on.
bool is_half_bound(const Scene& s) {
  const size_t refused = last_refused(s, K::bind_q4);
  if (!fed_wrongly(s) || refused == Scene::npos) return false;
  const Call& bind = s.trace.calls[refused].asked.call;
  WeightsUsed weights = s.trace.fed[s.now.life.tokens.back()].weights;
  for (size_t matrix = 0; matrix < 3; ++matrix) {
    const auto found = s.before.pool().find(key_of(bind, matrix));
    if (found == s.before.pool().end()) return false;
    if (found->second.rows != weights.large[matrix].rows) return false;
    weights.large[matrix] = found->second;
    if (fits(s, weights)) return true;
  }
  return false;
}
const RegisteredCause half{
    {.name = "half_of_a_failed_binding_stays",
     .sentence = "the layer computes with some of the matrices of a binding that was refused",
     .is_it = is_half_bound}};

bool is_replaced(const Scene& s) {
  const size_t refused = last_refused(s, K::load_layer_f32);
  if (!fed_wrongly(s) || refused == Scene::npos) return false;
  const int64_t given = s.trace.calls[refused].asked.call.at(A::weights);
  WeightsUsed weights = s.trace.fed[s.now.life.tokens.back()].weights;
  weights.small = given >= 0 ? given : s.layer();
  if (fits(s, weights)) return true;
  for (size_t m = 0; m < 3; ++m) {
    weights.large[m] = s.before.own_matrix(weights.small, static_cast<int64_t>(m));
  }
  weights.from_pool = false;
  return fits(s, weights);
}
const RegisteredCause replaced{{.name = "refused_load_replaces_weights",
                                .sentence = "the layer computes with the weights of a refused load",
                                .is_it = is_replaced}};
bool is_binding_replaced(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  return s.is(What::not_served) && s.feeds() && s.now.seen.status == GDN_NOT_LOADED &&
         layer != nullptr && layer->bound && last_refused(s, K::load_layer_f32) != Scene::npos;
}
const RegisteredCause unbound{{.name = "refused_load_drops_binding",
                               .sentence = "after a refused load the layer has no binding",
                               .is_it = is_binding_replaced,
                               .explains = {"refused_load_replaces_weights"}}};

bool is_loaded_by_failure(const Scene& s) {
  return s.is(What::not_served) && s.is(K::load_layer_f32) &&
         s.now.seen.status == GDN_ALREADY_LOADED && s.at.call > 0 &&
         s.trace.calls[s.at.call - 1].is_undone;
}
const RegisteredCause failed{{.name = "failed_load_leaves_layer_loaded",
                              .sentence = "a load whose allocation failed has loaded the layer",
                              .is_it = is_loaded_by_failure}};

bool is_allocated_first(const Scene& s) { return s.is(What::allocated) && s.is(K::load_layer_f32); }
const RegisteredCause allocates{
    {.name = "refused_load_allocates",
     .sentence = "a load asks for memory before it finds that the layer is loaded",
     .is_it = is_allocated_first}};

// A layer that was bound is fed after the pool went.
bool is_stale_binding(const Scene& s) {
  const LayerLife* const layer = layer_before(s, s.layer());
  if (!s.is(What::served) || !s.feeds() || s.is(K::forward) || layer == nullptr) return false;
  if (!layer->loaded || layer->ready()) return false;
  const size_t bound = s.last([&](const CallSeen& c) {
    return c.asked.call.kind == K::bind_q4 && c.seen.ok() && c.asked.call.at(A::layer) == s.layer();
  });
  const size_t rebuilt = s.last([&](const CallSeen& c) {
    return (c.asked.call.kind == K::pool_init || c.asked.call.kind == K::pool_clear) && c.seen.ok();
  });
  return bound != Scene::npos && rebuilt != Scene::npos && rebuilt > bound;
}
const RegisteredCause stale{{.name = "stale_binding_after_pool_rebuild",
                             .sentence = "a layer whose pool was made anew is fed by its old keys",
                             .is_it = is_stale_binding}};

}  // namespace
}  // namespace gdn
