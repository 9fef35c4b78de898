// The engine's construction, and tokens through its layers: every token is a replay of a graph that
// was recorded once, of one layer for step and run, of all layers for forward.
#include "device/host/engine.h"

#include <algorithm>
#include <cinttypes>

#include "device/host/undo.h"

namespace gdn::host {

Engine::Engine(const gdn_shape& shape, const Sizes& sizes, const gdn_options& options,
               std::unique_ptr<Backend> backend)
    : gate_(gate_of(options)),
      host_(gate_),
      backend_(std::move(backend)),
      device_(gate_, *backend_),
      shape_(shape),
      sizes_(sizes),
      observe_(options.observe != 0),
      q8_activations_(options.q8_activations != 0),
      snapshots_max_(options.snapshots),
      layers_(&host_),
      pool_(host_),
      buffers_(&host_),
      snapshots_(&host_) {
  if (static_cast<uint64_t>(shape.num_layers) > layers_.max_size()) {
    refuse(GDN_OUT_OF_MEMORY, "%" PRId64 " layers are more than the host can number",
           shape.num_layers);
  }
  layers_.reserve(static_cast<size_t>(shape.num_layers));
  for (int64_t l = 0; l < shape.num_layers; ++l) {
    Layer& made = layers_.emplace_back();
    for (LayerState* state : {&made.now, &made.before}) {
      state->S = DeviceArray<float>(device_, sizes_.tensor[GDN_S], "S");
      state->history = DeviceArray<float>(device_, sizes_.tensor[GDN_HIST], "HIST");
      if (observe_) state->tensors = TokenTensors(device_, sizes_);
    }
    zero_state(made);
  }
  if (!observe_) scratch_ = TokenTensors(device_, sizes_);
  decay_ = DeviceArray<float>(device_, shape.num_v_heads, "decay");
  hidden_ = DeviceArray<float>(device_, shape.hidden_size, "h");
  staged_ = DeviceArray<float>(device_, shape.hidden_size * staged_tokens, "staged tokens");
  if (q8_activations_) {
    const int64_t widest = std::max(shape.hidden_size, sizes_.v_dim);
    rounded_ = DeviceArray<float>(device_, widest, "rounded activations");
  }
  must(backend_->synchronise());
}

gdn_status Engine::conclude(const Status& status) {
  // Once lost, the reason stays for every later call.
  if (is_lost_ && status.ok()) return GDN_LOST;
  error_ = status;
  if (status.code == GDN_LOST) is_lost_ = true;
  return is_lost_ ? GDN_LOST : status.code;
}

// What projections read of x.
const float* Engine::queue_rounded(const float* x, int64_t count) {
  if (!q8_activations_) return x;
  queue_q8_activations(*backend_, x, count, rounded_.data());
  return rounded_.data();
}

// One token; h may be OUT of another layer, and of this one where layers share their tensors.
void Engine::queue_layer(const Layer& l, const float* h) {
  Backend& backend = *backend_;
  const gdn_shape& s = shape_;
  const TokenTensors& t = tensors_of(l);
  const float* const x = queue_rounded(h, s.hidden_size);
  queue_in_proj(backend, {.qkv = l.qkv.matrix(sizes_.conv_dim, s.hidden_size),
                          .z = l.z.matrix(sizes_.v_dim, s.hidden_size),
                          .x = x,
                          .y_qkv = t.at(GDN_QKV),
                          .y_z = t.at(GDN_Z)});
  queue_conv_gates_norm(backend, {.shape = s,
                                  .qkv = t.at(GDN_QKV),
                                  .conv_weight = l.conv.data(),
                                  .x = x,
                                  .b_weight = l.b.data(),
                                  .a_weight = l.a.data(),
                                  .A_log = l.A_log.data(),
                                  .dt_bias = l.dt_bias.data(),
                                  .history = l.now.history.data(),
                                  .conv = t.at(GDN_CONV),
                                  .b = t.at(GDN_B),
                                  .a = t.at(GDN_A),
                                  .beta = t.at(GDN_BETA),
                                  .g = t.at(GDN_G),
                                  .decay = decay_.data(),
                                  .q_normed = t.at(GDN_Q),
                                  .k_normed = t.at(GDN_K)});
  const DeltaRuleCall rule = {.shape = s,
                              .q = t.at(GDN_Q),
                              .k = t.at(GDN_K),
                              .v = t.at(GDN_V),
                              .g = decay_.data(),
                              .gk = nullptr,
                              .beta = t.at(GDN_BETA),
                              .S = l.now.S.data(),
                              .o = t.at(GDN_O),
                              .g_is_linear = true};
  queue_delta_rule_norm(backend, rule, t.at(GDN_Z), l.norm.data(), t.at(GDN_ONORM));
  queue_projection(backend, l.out.matrix(s.hidden_size, sizes_.v_dim),
                   queue_rounded(t.at(GDN_ONORM), sizes_.v_dim), t.at(GDN_OUT), true);
}

std::unique_ptr<Graph> Engine::captured(LayerRange range) {
  std::unique_ptr<Graph> graph;
  must(backend_->begin_capture());
  const float* h = hidden_.data();
  Status queued;
  try {
    for (int64_t l = range.first; l < range.end(); ++l) {
      queue_layer(layer(l), h);
      h = tensors_of(layer(l)).at(GDN_OUT);
    }
  } catch (const Failed& failed) {
    queued = failed.status;
  }
  const Status ended = backend_->end_capture(&graph);
  must(queued);
  must(ended);
  return graph;
}

void Engine::check_tokens(int64_t T, const float* h, const float* out) const {
  if (T < 0) refuse(GDN_INVALID_ARGUMENT, "T = %" PRId64 " is negative", T);
  if (T > 0 && h == nullptr) refuse(GDN_INVALID_ARGUMENT, "h is null");
  if (T > 0 && out == nullptr) refuse(GDN_INVALID_ARGUMENT, "out is null");
}

void Engine::step(int64_t l, const float* h, float* out) { run(l, 1, h, out); }

void Engine::run(int64_t l, int64_t T, const float* h, float* out) {
  check_tokens(T, h, out);
  check_runnable(l);
  if (T == 0) return;
  if (layer(l).graph == nullptr) layer(l).graph = captured({l, 1});
  replay_tokens(*layer(l).graph, {l, 1}, T, h, out);
}

void Engine::forward(int64_t T, const float* h, float* out) {
  check_tokens(T, h, out);
  for (int64_t l = 0; l < shape_.num_layers; ++l) check_runnable(l);
  if (T == 0) return;
  const LayerRange all = {0, shape_.num_layers};
  if (forward_ == nullptr) forward_ = captured(all);
  replay_tokens(*forward_, all, T, h, out);
}

// h of up to staged_tokens tokens goes to the device in one copy, their outputs come back in one.
void Engine::replay_tokens(const Graph& graph, LayerRange range, int64_t T, const float* h,
                           float* out) {
  // One token that does not run leaves nothing behind, on a device that says so.
  const bool needs_copy = T > 1 || !backend_->replay_is_atomic();
  Undo undo(*this, range, needs_copy ? Undo::Copy::made : Undo::Copy::none);
  const int64_t hidden = shape_.hidden_size;
  const uint64_t row_bytes = static_cast<uint64_t>(hidden) * sizeof(float);
  const float* const result = tensors_of(layer(range.end() - 1)).at(GDN_OUT);
  for (int64_t t = 0; t < T; t += staged_tokens) {
    const int64_t count = std::min(staged_tokens, T - t);
    const uint64_t bytes = static_cast<uint64_t>(count) * row_bytes;
    must(backend_->write(staged_.data(), h + t * hidden, bytes));
    for (int64_t i = 0; i < count; ++i) {
      float* const row = staged_.data() + i * hidden;
      must(backend_->copy(hidden_.data(), row, row_bytes));
      must(backend_->replay(graph));
      undo.state_changed();
      must(backend_->copy(row, result, row_bytes));
    }
    must(backend_->read(out + t * hidden, staged_.data(), bytes));
  }
  undo.keep();
  for (int64_t l = range.first; l < range.end(); ++l) layer(l).now.has_token = true;
}

}  // namespace gdn::host
