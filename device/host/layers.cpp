// Weights of layers as float32, and what a layer needs before it can run.
#include <cinttypes>

#include "device/host/engine.h"

namespace gdn::host {
namespace {

const char* first_null(const gdn_layer_weights& w) {
  if (w.b == nullptr) return "b";
  if (w.a == nullptr) return "a";
  if (w.conv == nullptr) return "conv";
  if (w.A_log == nullptr) return "A_log";
  if (w.dt_bias == nullptr) return "dt_bias";
  if (w.norm == nullptr) return "norm";
  return nullptr;
}

}  // namespace

void Engine::check_layer(int64_t l) const {
  if (l >= 0 && l < shape_.num_layers) return;
  refuse(GDN_INVALID_ARGUMENT, "layer %" PRId64 " is not in 0..%" PRId64, l, shape_.num_layers - 1);
}

LayerRange Engine::range_of(int64_t layer_or_all) const {
  if (layer_or_all == GDN_ALL_LAYERS) return {0, shape_.num_layers};
  check_layer(layer_or_all);
  return {layer_or_all, 1};
}

void Engine::check_runnable(int64_t l) {
  check_layer(l);
  if (!layer(l).loaded) refuse(GDN_NOT_LOADED, "layer %" PRId64 " has no weights", l);
  if (!layer(l).has_f32() && !layer(l).is_bound()) {
    refuse(GDN_NOT_LOADED, "layer %" PRId64 " is not bound to projections in the pool", l);
  }
}

void Engine::drop_graphs(int64_t l) {
  layer(l).graph.reset();
  forward_.reset();
}

void Engine::load_layer_f32(int64_t l, const gdn_layer_weights* weights) {
  check_layer(l);
  if (weights == nullptr) refuse(GDN_INVALID_ARGUMENT, "weights is null");
  if (weights->struct_size != sizeof *weights) {
    refuse(GDN_INVALID_ARGUMENT, "weights.struct_size is %u, expected %zu", weights->struct_size,
           sizeof *weights);
  }
  const int large = (weights->qkv != nullptr) + (weights->z != nullptr) + (weights->out != nullptr);
  if (large != 0 && large != 3) {
    refuse(GDN_INVALID_ARGUMENT, "qkv, z and out: all three or none, got %d", large);
  }
  if (const char* name = first_null(*weights)) refuse(GDN_INVALID_ARGUMENT, "%s is null", name);
  Layer& target = layer(l);
  if (target.loaded) {
    refuse(GDN_ALREADY_LOADED, "layer %" PRId64 " is loaded%s", l,
           target.is_bound() ? " and bound to the pool" : "");
  }

  const int64_t hidden = shape_.hidden_size;
  const int64_t heads = shape_.num_v_heads;
  const auto copied = [this](const float* values, int64_t count, const char* name) {
    return DeviceArray<float>(device_, values, count, name);
  };
  Layer fresh;
  if (large == 3) {
    fresh.qkv.f32 = copied(weights->qkv, sizes_.conv_dim * hidden, "qkv weights");
    fresh.z.f32 = copied(weights->z, sizes_.v_dim * hidden, "z weights");
    fresh.out.f32 = copied(weights->out, hidden * sizes_.v_dim, "out weights");
  }
  fresh.b = copied(weights->b, heads * hidden, "b weights");
  fresh.a = copied(weights->a, heads * hidden, "a weights");
  fresh.conv = copied(weights->conv, sizes_.conv_dim * shape_.conv_kernel, "conv weights");
  fresh.A_log = copied(weights->A_log, heads, "A_log");
  fresh.dt_bias = copied(weights->dt_bias, heads, "dt_bias");
  fresh.norm = copied(weights->norm, shape_.head_v_dim, "norm weights");
  must(backend_->synchronise());
  fresh.loaded = true;
  fresh.now = std::move(target.now);
  fresh.before = std::move(target.before);
  drop_graphs(l);
  target = std::move(fresh);
}

void Engine::unload_layer(int64_t l) {
  check_layer(l);
  reset(l);
  Layer& target = layer(l);
  Layer bare;
  bare.now = std::move(target.now);
  bare.before = std::move(target.before);
  drop_graphs(l);
  target = std::move(bare);
}

}  // namespace gdn::host
