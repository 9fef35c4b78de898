// The recurrence on its own, from and into buffers: one sequence in slot 0. Inputs of any storage
// format are widened, the state stays float32 within a call, and what is stored is rounded once.
#include <cstring>

#include "device/twin/engine.h"
#include "device/twin/formats.h"
#include "device/twin/views.h"

namespace gdn::twin {
namespace {

// The float32 working set of one token and the state, in one allocation.
struct Working {
  Array<float> storage;
  float *q, *k, *v, *g, *gk, *beta, *o, *S;
};

bool lay_out(const gdn_recurrent_args& a, Memory& memory, Working* w) {
  int64_t k_dim = 0;
  int64_t v_dim = 0;
  int64_t gk_dim = 0;
  int64_t state = 0;
  const bool fits = multiply(a.num_k_heads, a.head_k_dim, &k_dim) &&
                    multiply(a.num_v_heads, a.head_v_dim, &v_dim) &&
                    multiply(a.num_v_heads, a.head_k_dim, &gk_dim) &&
                    multiply(v_dim, a.head_k_dim, &state);
  if (!fits) return false;
  const int64_t counts[] = {k_dim,  k_dim,         v_dim, a.num_v_heads,
                            gk_dim, a.num_v_heads, v_dim, state};
  float** starts[] = {&w->q, &w->k, &w->v, &w->g, &w->gk, &w->beta, &w->o, &w->S};
  int64_t total = 0;
  for (const int64_t count : counts) {
    if (!add(total, count, &total)) return false;
  }
  w->storage = Array<float>(memory, total);
  float* at = w->storage.data();
  for (size_t i = 0; i < std::size(counts); ++i) {
    *starts[i] = at;
    at += counts[i];
  }
  return true;
}

// Row t of a view [T][rows][cols], or [T][rows] where cols is 1.
void gather(const gdn_view& view, const unsigned char* data, int64_t t, int64_t rows, int64_t cols,
            float* out) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      out[i * cols + j] = load_element(view.format, data, element_index(view, t, i, j));
    }
  }
}

// Where S[head][r][c] of slot 0 stands.
int64_t state_index(const gdn_recurrent_args& a, int64_t head, int64_t r, int64_t c) {
  return a.state_is_vk != 0 ? element_index(a.state, 0, head, c, r)
                            : element_index(a.state, 0, head, r, c);
}

template <class Visit>
void for_each_state(const gdn_recurrent_args& a, const Visit& visit) {
  int64_t canonical = 0;
  for (int64_t head = 0; head < a.num_v_heads; ++head) {
    for (int64_t r = 0; r < a.head_k_dim; ++r) {
      for (int64_t c = 0; c < a.head_v_dim; ++c) visit(state_index(a, head, r, c), canonical++);
    }
  }
}

bool starts_from_zero(const gdn_recurrent_args& a, const unsigned char* flags) {
  if (flags == nullptr) return false;
  int32_t flag = 0;
  std::memcpy(&flag, flags + a.from_zero.offset * int64_t{sizeof flag}, sizeof flag);
  return flag != 0;
}

}  // namespace

gdn_status Engine::recurrent(const gdn_recurrent_args* args) {
  if (args == nullptr) return refuse(GDN_INVALID_ARGUMENT, "args is null");
  if (args->struct_size != sizeof *args) {
    return refuse(GDN_INVALID_ARGUMENT, "args.struct_size is %u, expected %zu", args->struct_size,
                  sizeof *args);
  }
  const gdn_recurrent_args& a = *args;
  for (const auto check : {&Engine::check_counts, &Engine::check_choices, &Engine::check_views,
                           &Engine::check_served}) {
    const gdn_status status = (this->*check)(a);
    if (status != GDN_OK) return status;
  }
  if (a.num_tokens == 0) return GDN_OK;
  Working w;
  if (!lay_out(a, memory_, &w)) {
    return refuse(GDN_INVALID_ARGUMENT, "the shape's sizes overflow 64 bits");
  }

  const float scale = a.scale_is_given != 0 ? a.scale : default_q_scale(a.head_k_dim);
  const QkNorm norm = {.heads = a.num_k_heads,
                       .dim = a.head_k_dim,
                       .form = a.qk_norm,
                       .eps = a.qk_norm_eps,
                       .scale = a.scale_on_output != 0 ? 1.0F : scale};
  const DeltaRule rule = {.kh = a.num_k_heads,
                          .kd = a.head_k_dim,
                          .vh = a.num_v_heads,
                          .vd = a.head_v_dim,
                          .head_map_tiled = a.head_map_tiled != 0,
                          .g_is_linear = a.g_is_linear != 0,
                          .q = w.q,
                          .k = w.k,
                          .v = w.v,
                          .g = a.g.buffer != 0 ? w.g : nullptr,
                          .gk = a.gk.buffer != 0 ? w.gk : nullptr,
                          .beta = w.beta,
                          .S = w.S,
                          .o = w.o};
  unsigned char* state = view_data(a.state);
  const bool from_zero = starts_from_zero(a, view_data(a.from_zero));
  for_each_state(a, [&](int64_t index, int64_t canonical) {
    w.S[canonical] = from_zero ? 0.0F : load_element(a.state.format, state, index);
  });
  for (int64_t t = 0; t < a.num_tokens; ++t) {
    gather(a.q, view_data(a.q), t, a.num_k_heads, a.head_k_dim, w.q);
    gather(a.k, view_data(a.k), t, a.num_k_heads, a.head_k_dim, w.k);
    gather(a.v, view_data(a.v), t, a.num_v_heads, a.head_v_dim, w.v);
    gather(a.beta, view_data(a.beta), t, a.num_v_heads, 1, w.beta);
    if (rule.g != nullptr) gather(a.g, view_data(a.g), t, a.num_v_heads, 1, w.g);
    if (rule.gk != nullptr) gather(a.gk, view_data(a.gk), t, a.num_v_heads, a.head_k_dim, w.gk);
    operators_.qk_norm(norm, w.q, w.k, w.q, w.k);
    operators_.delta_rule(rule);
    unsigned char* o = view_data(a.o);
    for (int64_t i = 0; i < a.num_v_heads * a.head_v_dim; ++i) {
      const int64_t index = element_index(a.o, t, i / a.head_v_dim, i % a.head_v_dim);
      store_element(a.o.format, o, index, a.scale_on_output != 0 ? w.o[i] * scale : w.o[i]);
    }
  }
  for_each_state(a, [&](int64_t index, int64_t canonical) {
    store_element(a.state.format, state, index, w.S[canonical]);
  });
  return GDN_OK;
}

}  // namespace gdn::twin
