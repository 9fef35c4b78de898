// The recurrence on its own, from and into buffers. Inputs of any storage format are widened first;
// then one launch takes all sequences, keeps their states in float32, and rounds what it stores.
#include "device/host/engine.h"
#include "device/host/recurrent_checks.h"
#include "device/host/recurrent_plan.h"
#include "device/host/views.h"

namespace gdn::host {
namespace {

// A view [T][rows][cols], or [T][rows] where it has no third stride.
StridedArray strided(const gdn_view& view, unsigned char* data, int64_t T, int64_t rows,
                     int64_t cols) {
  return {view.format,
          data,
          view.offset,
          {T, rows, cols},
          {view.stride[0], view.stride[1], cols == 1 ? 0 : view.stride[2]}};
}

}  // namespace

// What the tokens of one call are worked on with, on the device.
struct Engine::Gathered {
  DeviceArray<float> q, k, v, g, gk, beta, work;
  DeviceArray<SequenceOfCall> sequences;
  DeviceArray<int64_t> store;
};

namespace {

// States [..][vh][kd][vd], or [..][vh][vd][kd].
StateArray states_of(const gdn_recurrent_args& a, const gdn_view& view, unsigned char* data) {
  const bool turned = a.state_is_vk != 0;
  return {view.format,
          data,
          view.offset,
          view.stride[0],
          view.stride[1],
          view.stride[turned ? 3 : 2],
          view.stride[turned ? 2 : 3]};
}

}  // namespace

void Engine::read_indices(const gdn_view& view, int64_t count, std::pmr::vector<int32_t>& to) {
  if (view.buffer == 0) return;
  to.resize(static_cast<size_t>(count));
  const unsigned char* const at = view_data(view) + view.offset * int64_t{sizeof(int32_t)};
  if (view.stride[0] == 1) return must(backend_->read(to.data(), at, to.size() * sizeof(int32_t)));
  for (int64_t i = 0; i < count; ++i) {
    must(backend_->read(&to[static_cast<size_t>(i)],
                        at + i * view.stride[0] * int64_t{sizeof(int32_t)}, sizeof(int32_t)));
  }
}

void Engine::plan(const gdn_recurrent_args& a, RecurrentPlan& plan) {
  const int64_t N = a.num_sequences;
  RecurrentIndices indices(&host_);
  read_indices(a.sequences, a.sequence_coding == GDN_LENGTHS ? N : N + 1, indices.sequences);
  read_indices(a.slots, a.state_writes == GDN_WRITE_EVERY_TOKEN ? a.num_tokens : N, indices.slots);
  read_indices(a.accepted, N, indices.accepted);
  read_indices(a.from_zero, N, indices.from_zero);
  plan_recurrent(a, indices, plan);
}

Engine::Gathered Engine::gathered(const gdn_recurrent_args& a, const RecurrentPlan& plan,
                                  float q_scale) {
  const int64_t T = a.num_tokens;
  const auto sequences = static_cast<int64_t>(plan.sequences.size());
  int64_t per_head = 0;
  int64_t heads = 0;
  int64_t state = 0;
  if (!multiply(a.head_k_dim, a.head_v_dim, &per_head) ||
      !multiply(sequences, a.num_v_heads, &heads) || !multiply(per_head, heads, &state)) {
    refuse(GDN_INVALID_ARGUMENT, "S: the size overflows 64 bits");
  }
  const auto room = [&](int64_t rows, int64_t cols, const char* name) {
    int64_t count = 0;
    if (!multiply(T, rows, &count) || !multiply(count, cols, &count)) {
      refuse(GDN_INVALID_ARGUMENT, "%s: the size overflows 64 bits", name);
    }
    return DeviceArray<float>(device_, count, name);
  };
  const auto widened = [&](const gdn_view& view, int64_t rows, int64_t cols, const char* name,
                           float factor) {
    DeviceArray<float> values = room(rows, cols, name);
    queue_gather(*backend_, strided(view, view_data(view), T, rows, cols), factor, values.data());
    return values;
  };
  Gathered s;
  s.q = widened(a.q, a.num_k_heads, a.head_k_dim, "q", q_scale);
  s.k = widened(a.k, a.num_k_heads, a.head_k_dim, "k", 1);
  s.v = widened(a.v, a.num_v_heads, a.head_v_dim, "v", 1);
  s.beta = widened(a.beta, a.num_v_heads, 1, "beta", 1);
  if (a.g.buffer != 0) s.g = widened(a.g, a.num_v_heads, 1, "g", 1);
  if (a.gk.buffer != 0) s.gk = widened(a.gk, a.num_v_heads, a.head_k_dim, "gk", 1);
  s.work = DeviceArray<float>(device_, heads * recurrent_work_count(a.head_k_dim, a.head_v_dim),
                              "states at work");
  s.sequences = DeviceArray<SequenceOfCall>(device_, plan.sequences.data(), sequences, "sequences");
  s.store = DeviceArray<int64_t>(device_, plan.store.data(), T, "slots of tokens");
  return s;
}

// All heads of all tokens at once.
void Engine::norm_q_and_k(const gdn_recurrent_args& a, float q_scale, const Gathered& s) {
  const bool by_max = a.qk_norm == GDN_QK_NORM_MAX;
  const float kd = a.qk_norm == GDN_QK_NORM_MEAN_EPS ? static_cast<float>(a.head_k_dim) : 1.0F;
  queue_qk_norm(*backend_, {.heads = a.num_tokens * a.num_k_heads,
                            .head_dim = a.head_k_dim,
                            .eps = by_max ? 0.0F : kd * a.qk_norm_eps,
                            .q_scale = q_scale,
                            .q = s.q.data(),
                            .k = s.k.data(),
                            .q_normed = s.q.data(),
                            .k_normed = s.k.data(),
                            .norm_min = by_max ? a.qk_norm_eps : 0.0F});
}

void Engine::recur(const gdn_recurrent_args& a, const Gathered& s, float o_factor) {
  gdn_shape shape = shape_;
  shape.num_k_heads = a.num_k_heads;
  shape.head_k_dim = a.head_k_dim;
  shape.num_v_heads = a.num_v_heads;
  shape.head_v_dim = a.head_v_dim;
  const bool keeps = a.state_writes == GDN_WRITE_LAST;
  queue_recurrent(*backend_,
                  {.shape = shape,
                   .q = s.q.data(),
                   .k = s.k.data(),
                   .v = s.v.data(),
                   .g = s.g.data(),
                   .gk = s.gk.data(),
                   .beta = s.beta.data(),
                   .o = strided(a.o, view_data(a.o), a.num_tokens, a.num_v_heads, a.head_v_dim),
                   .o_factor = o_factor,
                   .state = states_of(a, a.state, view_data(a.state)),
                   .snapshots = states_of(a, a.snapshots, keeps ? view_data(a.snapshots) : nullptr),
                   .work = s.work.data(),
                   .sequences = s.sequences.data(),
                   .num_sequences = s.sequences.count(),
                   .store = s.store.data(),
                   .snapshots_kept = keeps ? a.num_snapshots : 0,
                   .sequences_of_call = a.num_sequences,
                   .head_map_tiled = a.head_map_tiled != 0,
                   .g_is_linear = a.g_is_linear != 0});
}

void Engine::recurrent(const gdn_recurrent_args* args) {
  const gdn_recurrent_args& a = checked(args, [this](gdn_buffer name) {
    const auto found = buffers_.find(name);
    return found == buffers_.end() ? -1 : found->second.count();
  });
  RecurrentPlan plan(&host_);
  this->plan(a, plan);
  if (plan.sequences.empty()) return;

  const float scale = a.scale_is_given != 0 ? a.scale : q_scale_of(a.head_k_dim);
  const float q_scale = a.scale_on_output != 0 ? 1.0F : scale;
  const bool norms = a.qk_norm != GDN_QK_NORM_NONE;
  const Gathered s = gathered(a, plan, norms ? 1.0F : q_scale);
  if (norms) norm_q_and_k(a, q_scale, s);
  // What was queued so far has written nothing that a caller sees.
  must(backend_->synchronise());
  recur(a, s, a.scale_on_output != 0 ? scale : 1.0F);
  must(backend_->synchronise());
}

}  // namespace gdn::host
