// One operator on explicit inputs, through the table that step uses. Arrays are found by name, and
// all are checked before one is written.
#include <cinttypes>
#include <cstring>

#include "device/twin/engine.h"
#include "device/twin/formats.h"

namespace gdn::twin {
namespace {

const gdn_array* find(std::span<const gdn_array> arrays, const char* name) {
  for (const gdn_array& array : arrays) {
    if (array.name != nullptr && std::strcmp(array.name, name) == 0) return &array;
  }
  return nullptr;
}

// An output that starts as a copy of the input of the same name, which may be the same array.
float* continued(const float* from, float* to, int64_t count) {
  if (count > 0 && from != to) {
    std::memmove(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  return to;
}

}  // namespace

struct Applied {
  const gdn_shape& shape;
  const Sizes& sizes;
  std::span<const gdn_array> inputs, outputs;

  const float* in(const char* name) const { return data_of(inputs, name); }
  float* out(const char* name) const { return data_of(outputs, name); }

 private:
  static float* data_of(std::span<const gdn_array> arrays, const char* name) {
    const gdn_array* found = find(arrays, name);
    return found == nullptr ? nullptr : static_cast<float*>(found->data);
  }
};

gdn_status Engine::check_arrays(const char* side, std::span<const gdn_array> arrays,
                                std::initializer_list<Expected> expected) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const gdn_array& array = arrays[i];
    if (array.name == nullptr) return refuse(GDN_INVALID_ARGUMENT, "%s %zu has no name", side, i);
    const Expected* match = nullptr;
    for (const Expected& e : expected) {
      if (std::strcmp(e.name, array.name) == 0) match = &e;
    }
    if (match == nullptr) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %.64s is none of this operator", side, array.name);
    }
    if (find(arrays, array.name) != &array) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %.64s is given twice", side, array.name);
    }
    if (array.format != match->format) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %s: format %d, expected %d", side, match->name,
                    static_cast<int>(array.format), static_cast<int>(match->format));
    }
    if (array.count != match->count) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %s has %" PRId64 " elements, expected %" PRId64, side,
                    match->name, array.count, match->count);
    }
    if (array.data == nullptr && array.count > 0) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %s is null", side, match->name);
    }
  }
  for (const Expected& e : expected) {
    if (find(arrays, e.name) == nullptr && e.count > 0 && !e.is_optional) {
      return refuse(GDN_INVALID_ARGUMENT, "%s %s is missing", side, e.name);
    }
  }
  return GDN_OK;
}

gdn_status Engine::check_arrays(const Applied& call, std::initializer_list<Expected> inputs,
                                std::initializer_list<Expected> outputs) {
  const gdn_status status = check_arrays("input", call.inputs, inputs);
  return status != GDN_OK ? status : check_arrays("output", call.outputs, outputs);
}

gdn_status Engine::apply_projection(const Applied& call) {
  const gdn_array* x = find(call.inputs, "x");
  const gdn_array* weight = find(call.inputs, "weight");
  const gdn_array* y = find(call.outputs, "y");
  const int64_t cols = x == nullptr ? 0 : x->count;
  const int64_t rows = y == nullptr ? 0 : y->count;
  int64_t weights = 0;
  if (cols < 1 || rows < 1 || !multiply(rows, cols, &weights)) {
    return refuse(GDN_INVALID_ARGUMENT,
                  "x [cols] and y [rows] are needed, got %" PRId64 " and %" PRId64 " elements",
                  cols, rows);
  }
  const bool is_q4 = weight != nullptr && weight->format == GDN_Q4_TILE;
  const gdn_status status = check_arrays(
      call, {{"x", cols}, {"weight", weights, is_q4 ? GDN_Q4_TILE : GDN_F32}}, {{"y", rows}});
  if (status != GDN_OK) return status;
  int64_t bytes = 0;
  const char* why = is_q4 ? why_not_tiles(rows, cols, &bytes) : nullptr;
  if (why != nullptr) {
    return refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  if (q8_activations_ && cols % 32 != 0) {
    return refuse(GDN_INVALID_ARGUMENT, "q8_0 activations need cols in blocks of 32, got %" PRId64,
                  cols);
  }
  Array<float> rounded(memory_, q8_activations_ ? cols : 0);
  const auto* values = static_cast<const float*>(x->data);
  if (q8_activations_) {
    operators_.round_to_q8(values, cols, rounded.data());
    values = rounded.data();
  }
  if (is_q4) {
    operators_.project_q4(static_cast<const uint8_t*>(weight->data), rows, cols, values,
                          call.out("y"));
  } else {
    operators_.project_f32(static_cast<const float*>(weight->data), rows, cols, values,
                           call.out("y"));
  }
  return GDN_OK;
}

gdn_status Engine::apply_gates(const Applied& call) {
  const int64_t vh = call.shape.num_v_heads;
  const gdn_status status = check_arrays(
      call, {{"a", vh}, {"b", vh}, {"A_log", vh}, {"dt_bias", vh}}, {{"beta", vh}, {"g", vh}});
  if (status != GDN_OK) return status;
  operators_.gates(call.in("a"), call.in("b"), call.in("A_log"), call.in("dt_bias"), vh,
                   call.out("beta"), call.out("g"));
  return GDN_OK;
}

gdn_status Engine::apply_conv(const Applied& call) {
  const int64_t channels = call.sizes.conv_dim;
  const int64_t history = call.sizes.tensor[GDN_HIST];
  const int64_t taps = call.shape.conv_kernel;
  const gdn_status status =
      check_arrays(call, {{"x", channels}, {"hist", history}, {"weight", channels * taps}},
                   {{"y", channels}, {"hist", history}});
  if (status != GDN_OK) return status;
  float* hist = continued(call.in("hist"), call.out("hist"), history);
  operators_.conv(call.in("x"), call.in("weight"), channels, taps, hist, call.out("y"));
  return GDN_OK;
}

gdn_status Engine::apply_qk_norm(const Applied& call) {
  const int64_t k_dim = call.sizes.k_dim;
  const gdn_status status =
      check_arrays(call, {{"q", k_dim}, {"k", k_dim}}, {{"q", k_dim}, {"k", k_dim}});
  if (status != GDN_OK) return status;
  operators_.qk_norm({.heads = call.shape.num_k_heads,
                      .dim = call.shape.head_k_dim,
                      .form = GDN_QK_NORM_SUM_EPS,
                      .eps = call.shape.l2norm_eps,
                      .scale = default_q_scale(call.shape.head_k_dim)},
                     call.in("q"), call.in("k"), call.out("q"), call.out("k"));
  return GDN_OK;
}

gdn_status Engine::apply_delta_rule(const Applied& call) {
  const gdn_shape& s = call.shape;
  const int64_t k_dim = call.sizes.k_dim;
  const int64_t v_dim = call.sizes.v_dim;
  const int64_t vh = s.num_v_heads;
  const int64_t state = call.sizes.tensor[GDN_S];
  // vh kd is at most the size of S, so it fits.
  const gdn_status status = check_arrays(call,
                                         {{"q", k_dim},
                                          {"k", k_dim},
                                          {"v", v_dim},
                                          {"g", vh, GDN_F32, true},
                                          {"gk", vh * s.head_k_dim, GDN_F32, true},
                                          {"beta", vh},
                                          {"S", state}},
                                         {{"S", state}, {"o", v_dim}});
  if (status != GDN_OK) return status;
  if (call.in("g") == nullptr && call.in("gk") == nullptr) {
    return refuse(GDN_INVALID_ARGUMENT, "input g or gk is needed");
  }
  operators_.delta_rule({.kh = s.num_k_heads,
                         .kd = s.head_k_dim,
                         .vh = vh,
                         .vd = s.head_v_dim,
                         .head_map_tiled = false,
                         .g_is_linear = false,
                         .q = call.in("q"),
                         .k = call.in("k"),
                         .v = call.in("v"),
                         .g = call.in("g"),
                         .gk = call.in("gk"),
                         .beta = call.in("beta"),
                         .S = continued(call.in("S"), call.out("S"), state),
                         .o = call.out("o")});
  return GDN_OK;
}

gdn_status Engine::apply_gated_norm(const Applied& call) {
  const int64_t v_dim = call.sizes.v_dim;
  const gdn_status status = check_arrays(
      call, {{"o", v_dim}, {"z", v_dim}, {"weight", call.shape.head_v_dim}}, {{"y", v_dim}});
  if (status != GDN_OK) return status;
  operators_.gated_norm({.heads = call.shape.num_v_heads,
                         .dim = call.shape.head_v_dim,
                         .eps = call.shape.rms_norm_eps,
                         .o = call.in("o"),
                         .z = call.in("z"),
                         .w = call.in("weight")},
                        call.out("y"));
  return GDN_OK;
}

gdn_status Engine::apply(gdn_operator op, const gdn_shape* shape, const gdn_array* inputs,
                         size_t num_inputs, const gdn_array* outputs, size_t num_outputs) {
  if (shape == nullptr) return refuse(GDN_INVALID_ARGUMENT, "shape is null");
  if (inputs == nullptr) return refuse(GDN_INVALID_ARGUMENT, "inputs is null");
  if (outputs == nullptr) return refuse(GDN_INVALID_ARGUMENT, "outputs is null");
  Sizes sizes;
  const bool projects = op == GDN_IN_PROJ || op == GDN_OUT_PROJ;
  if (!projects) {
    if (const char* why = why_not_shape(*shape, false, &sizes)) {
      return refuse(GDN_INVALID_ARGUMENT, "shape: %s", why);
    }
  }
  const Applied call{*shape, sizes, {inputs, num_inputs}, {outputs, num_outputs}};
  switch (op) {
    case GDN_IN_PROJ:
    case GDN_OUT_PROJ:
      return apply_projection(call);
    case GDN_GATES:
      return apply_gates(call);
    case GDN_CONV_SILU:
      return apply_conv(call);
    case GDN_QK_NORM:
      return apply_qk_norm(call);
    case GDN_DELTA_RULE:
      return apply_delta_rule(call);
    case GDN_GATED_NORM:
      return apply_gated_norm(call);
  }
  return refuse(GDN_INVALID_ARGUMENT, "operator %d is not in 0..6", static_cast<int>(op));
}

gdn_status Engine::dequant(int64_t rows, int64_t cols, const void* tiles, float* out) {
  if (tiles == nullptr) return refuse(GDN_INVALID_ARGUMENT, "tiles is null");
  if (out == nullptr) return refuse(GDN_INVALID_ARGUMENT, "out is null");
  int64_t bytes = 0;
  if (const char* why = why_not_tiles(rows, cols, &bytes)) {
    return refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  operators_.dequant(static_cast<const uint8_t*>(tiles), rows, cols, out);
  return GDN_OK;
}

}  // namespace gdn::twin
