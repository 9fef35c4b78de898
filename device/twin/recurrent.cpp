// The recurrence on its own, from and into buffers, one sequence after the other. Inputs of any
// storage format are widened, the state stays float32 within a call, and each store rounds once.
#include "device/twin/engine.h"
#include "device/twin/formats.h"
#include "device/twin/recurrent_plan.h"
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

void scatter(const gdn_view& view, unsigned char* data, int64_t t, int64_t rows, int64_t cols,
             float factor, const float* in) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      store_element(view.format, data, element_index(view, t, i, j), in[i * cols + j] * factor);
    }
  }
}

// Each element of a state in `view`, [..][vh][kd][vd] or [..][vh][vd][kd]: where it stands there,
// and where in [vh][kd][vd].
template <class Visit>
void for_each_state(const gdn_recurrent_args& a, const gdn_view& view, int64_t slot,
                    const Visit& visit) {
  int64_t canonical = 0;
  for (int64_t head = 0; head < a.num_v_heads; ++head) {
    for (int64_t r = 0; r < a.head_k_dim; ++r) {
      for (int64_t c = 0; c < a.head_v_dim; ++c) {
        visit(a.state_is_vk != 0 ? element_index(view, slot, head, c, r)
                                 : element_index(view, slot, head, r, c),
              canonical++);
      }
    }
  }
}

void store_state(const gdn_recurrent_args& a, const gdn_view& view, unsigned char* data,
                 int64_t slot, const float* S) {
  for_each_state(a, view, slot, [&](int64_t index, int64_t canonical) {
    store_element(view.format, data, index, S[canonical]);
  });
}

}  // namespace

// One call on one token after the other; everything is there.
struct Engine::RecurrentCall {
  Engine& engine;
  const gdn_recurrent_args& a;
  const RecurrentPlan& plan;
  const Working& w;
  float scale;
  QkNorm norm;
  DeltaRule rule;

  void zero_output(const PlannedSequence& s) const {
    for (int64_t i = 0; i < a.num_v_heads * a.head_v_dim; ++i) w.o[i] = 0;
    for (int64_t t = s.first_token; t < s.first_token + s.tokens; ++t) store_output(t, 1);
  }
  void store_output(int64_t t, float factor) const {
    scatter(a.o, engine.view_data(a.o), t, a.num_v_heads, a.head_v_dim, factor, w.o);
  }
  void start(const PlannedSequence& s) const {
    const unsigned char* state = engine.view_data(a.state);
    for_each_state(a, a.state, s.start_slot, [&](int64_t index, int64_t canonical) {
      w.S[canonical] = s.from_zero ? 0.0F : load_element(a.state.format, state, index);
    });
  }
  void token(int64_t t) const {
    const auto take = [&](const gdn_view& view, int64_t rows, int64_t cols, float* to) {
      gather(view, engine.view_data(view), t, rows, cols, to);
    };
    take(a.q, a.num_k_heads, a.head_k_dim, w.q);
    take(a.k, a.num_k_heads, a.head_k_dim, w.k);
    take(a.v, a.num_v_heads, a.head_v_dim, w.v);
    take(a.beta, a.num_v_heads, 1, w.beta);
    if (rule.g != nullptr) take(a.g, a.num_v_heads, 1, w.g);
    if (rule.gk != nullptr) take(a.gk, a.num_v_heads, a.head_k_dim, w.gk);
    engine.operators_.qk_norm(norm, w.q, w.k, w.q, w.k);
    engine.operators_.delta_rule(rule);
    store_output(t, a.scale_on_output != 0 ? scale : 1.0F);
  }
  // The state after token t goes to its slot, or is one of the last.
  void keep(const PlannedSequence& s, int64_t t) const {
    const int64_t slot = plan.store[static_cast<size_t>(t)];
    if (slot >= 0) store_state(a, a.state, engine.view_data(a.state), slot, w.S);
    const int64_t after = s.first_token + s.tokens - 1 - t;
    if (a.state_writes != GDN_WRITE_LAST || after >= a.num_snapshots) return;
    store_state(a, a.snapshots, engine.view_data(a.snapshots), after * a.num_sequences + s.index,
                w.S);
  }
  void sequence(const PlannedSequence& s) const {
    if (s.start_slot < 0) {
      if (a.padding != GDN_NEGATIVE_SKIPS) zero_output(s);
      return;
    }
    start(s);
    for (int64_t t = s.first_token; t < s.first_token + s.tokens; ++t) {
      token(t);
      keep(s, t);
    }
  }
};

gdn_status Engine::recurrent(const gdn_recurrent_args* args) {
  if (args == nullptr) return refuse(GDN_INVALID_ARGUMENT, "args is null");
  if (args->struct_size != sizeof *args) {
    return refuse(GDN_INVALID_ARGUMENT, "args.struct_size is %u, expected %zu", args->struct_size,
                  sizeof *args);
  }
  const gdn_recurrent_args& a = *args;
  for (const auto check : {&Engine::check_counts, &Engine::check_choices, &Engine::check_views}) {
    const gdn_status status = (this->*check)(a);
    if (status != GDN_OK) return status;
  }
  RecurrentPlan plan(&memory_);
  const gdn_status status = plan_recurrent(a, &plan);
  if (status != GDN_OK || plan.sequences.empty()) return status;
  Working w;
  if (!lay_out(a, memory_, &w)) {
    return refuse(GDN_INVALID_ARGUMENT, "the shape's sizes overflow 64 bits");
  }

  const float scale = a.scale_is_given != 0 ? a.scale : default_q_scale(a.head_k_dim);
  const RecurrentCall call = {.engine = *this,
                              .a = a,
                              .plan = plan,
                              .w = w,
                              .scale = scale,
                              .norm = {.heads = a.num_k_heads,
                                       .dim = a.head_k_dim,
                                       .form = a.qk_norm,
                                       .eps = a.qk_norm_eps,
                                       .scale = a.scale_on_output != 0 ? 1.0F : scale},
                              .rule = {.kh = a.num_k_heads,
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
                                       .o = w.o}};
  for (const PlannedSequence& sequence : plan.sequences) call.sequence(sequence);
  return GDN_OK;
}

}  // namespace gdn::twin
