// The recurrence on its own, from and into buffers: one sequence in slot 0. Inputs of any storage
// format are widened first, the state stays float32 within a call, and what is stored is rounded
// once, o and then the state, after all that could be refused.
#include "device/host/engine.h"
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

// The float32 arrays that the tokens of one call work on.
struct Engine::Sequence {
  DeviceArray<float> q, k, v, g, gk, beta, o, S;
};

// S[vh][kd][vd] as it stands in slot 0.
StridedArray Engine::slot_of(const gdn_recurrent_args& a) const {
  const bool turned = a.state_is_vk != 0;
  return {a.state.format,
          view_data(a.state),
          a.state.offset,
          {a.num_v_heads, a.head_k_dim, a.head_v_dim},
          {a.state.stride[1], a.state.stride[turned ? 3 : 2], a.state.stride[turned ? 2 : 3]}};
}

Engine::Sequence Engine::gathered(const gdn_recurrent_args& a, float q_scale) {
  const int64_t T = a.num_tokens;
  int64_t per_head = 0;
  int64_t state = 0;
  if (!multiply(a.head_k_dim, a.head_v_dim, &per_head) ||
      !multiply(per_head, a.num_v_heads, &state)) {
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
  Sequence s;
  s.q = widened(a.q, a.num_k_heads, a.head_k_dim, "q", q_scale);
  s.k = widened(a.k, a.num_k_heads, a.head_k_dim, "k", 1);
  s.v = widened(a.v, a.num_v_heads, a.head_v_dim, "v", 1);
  s.beta = widened(a.beta, a.num_v_heads, 1, "beta", 1);
  if (a.g.buffer != 0) s.g = widened(a.g, a.num_v_heads, 1, "g", 1);
  if (a.gk.buffer != 0) s.gk = widened(a.gk, a.num_v_heads, a.head_k_dim, "gk", 1);
  s.o = room(a.num_v_heads, a.head_v_dim, "o");
  s.S = DeviceArray<float>(device_, state, "S");
  return s;
}

// All heads of all tokens at once.
void Engine::norm_q_and_k(const gdn_recurrent_args& a, float q_scale, const Sequence& s) {
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

bool Engine::starts_from_zero(const gdn_recurrent_args& a) {
  if (a.from_zero.buffer == 0) return false;
  int32_t flag = 0;
  const unsigned char* const at = view_data(a.from_zero) + a.from_zero.offset * 4;
  must(backend_->read(&flag, at, sizeof flag));
  return flag != 0;
}

void Engine::recur(const gdn_recurrent_args& a, const Sequence& s) {
  gdn_shape shape = shape_;
  shape.num_k_heads = a.num_k_heads;
  shape.head_k_dim = a.head_k_dim;
  shape.num_v_heads = a.num_v_heads;
  shape.head_v_dim = a.head_v_dim;
  const int64_t k_dim = a.num_k_heads * a.head_k_dim;
  const int64_t v_dim = a.num_v_heads * a.head_v_dim;
  const auto token = [](const DeviceArray<float>& all, int64_t at) {
    return all.present() ? all.data() + at : nullptr;
  };
  for (int64_t t = 0; t < a.num_tokens; ++t) {
    queue_delta_rule(*backend_, {.shape = shape,
                                 .q = token(s.q, t * k_dim),
                                 .k = token(s.k, t * k_dim),
                                 .v = token(s.v, t * v_dim),
                                 .g = token(s.g, t * a.num_v_heads),
                                 .gk = token(s.gk, t * a.num_v_heads * a.head_k_dim),
                                 .beta = token(s.beta, t * a.num_v_heads),
                                 .S = s.S.data(),
                                 .o = token(s.o, t * v_dim),
                                 .head_map_tiled = a.head_map_tiled != 0,
                                 .g_is_linear = a.g_is_linear != 0});
  }
}

void Engine::recurrent(const gdn_recurrent_args* args) {
  if (args == nullptr) refuse(GDN_INVALID_ARGUMENT, "args is null");
  if (args->struct_size != sizeof *args) {
    refuse(GDN_INVALID_ARGUMENT, "args.struct_size is %u, expected %zu", args->struct_size,
           sizeof *args);
  }
  const gdn_recurrent_args& a = *args;
  check_counts(a);
  check_choices(a);
  check_views(a);
  check_served(a);
  if (a.num_tokens == 0) return;

  const float scale = a.scale_is_given != 0 ? a.scale : q_scale_of(a.head_k_dim);
  const float q_scale = a.scale_on_output != 0 ? 1.0F : scale;
  const bool norms = a.qk_norm != GDN_QK_NORM_NONE;
  const Sequence s = gathered(a, norms ? 1.0F : q_scale);
  if (norms) norm_q_and_k(a, q_scale, s);
  const StridedArray slot = slot_of(a);
  if (starts_from_zero(a)) {
    must(backend_->zero(s.S.data(), s.S.bytes()));
  } else {
    queue_gather(*backend_, slot, 1, s.S.data());
  }
  recur(a, s);
  must(backend_->synchronise());
  const StridedArray o = strided(a.o, view_data(a.o), a.num_tokens, a.num_v_heads, a.head_v_dim);
  queue_scatter(*backend_, s.o.data(), a.scale_on_output != 0 ? scale : 1.0F, o);
  queue_scatter(*backend_, s.S.data(), 1, slot);
  must(backend_->synchronise());
}

}  // namespace gdn::host
