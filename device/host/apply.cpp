// One operator on explicit inputs, through the launches that step uses. Arrays are found by name,
// all are checked before anything is allocated, and outputs are read back last.
#include <cinttypes>
#include <cstring>
#include <initializer_list>
#include <span>

#include "device/host/engine.h"

namespace gdn::host {
namespace {

using Arrays = std::span<const gdn_array>;

const gdn_array* find(Arrays arrays, const char* name) {
  for (const gdn_array& array : arrays) {
    if (array.name != nullptr && std::strcmp(array.name, name) == 0) return &array;
  }
  return nullptr;
}

// An array that an operator looks for.
struct Expected {
  const char* name;
  int64_t count;
  gdn_format format = GDN_F32;
  bool is_optional = false;  // an array of no elements may be absent in any case
};

void check_array(const char* side, const gdn_array& array,
                 std::initializer_list<Expected> expected) {
  const Expected* match = nullptr;
  for (const Expected& e : expected) {
    if (std::strcmp(e.name, array.name) == 0) match = &e;
  }
  if (match == nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "%s %.64s is none of this operator", side, array.name);
  }
  if (array.format != match->format) {
    refuse(GDN_INVALID_ARGUMENT, "%s %s: format %d, expected %d", side, match->name,
           static_cast<int>(array.format), static_cast<int>(match->format));
  }
  if (array.count != match->count) {
    refuse(GDN_INVALID_ARGUMENT, "%s %s has %" PRId64 " elements, expected %" PRId64, side,
           match->name, array.count, match->count);
  }
  if (array.data == nullptr && array.count > 0) {
    refuse(GDN_INVALID_ARGUMENT, "%s %s is null", side, match->name);
  }
}

void check_arrays(const char* side, Arrays arrays, std::initializer_list<Expected> expected) {
  for (const gdn_array& array : arrays) {
    if (array.name == nullptr) refuse(GDN_INVALID_ARGUMENT, "an %s has no name", side);
    check_array(side, array, expected);
    if (find(arrays, array.name) != &array) {
      refuse(GDN_INVALID_ARGUMENT, "%s %.64s is given twice", side, array.name);
    }
  }
  for (const Expected& e : expected) {
    if (find(arrays, e.name) == nullptr && e.count > 0 && !e.is_optional) {
      refuse(GDN_INVALID_ARGUMENT, "%s %s is missing", side, e.name);
    }
  }
}

// The call at hand: its arrays on the host, and copies of them on the device.
class Applied {
 public:
  Applied(DeviceMemory& memory, Arrays inputs, Arrays outputs)
      : memory_(memory), inputs_(inputs), outputs_(outputs) {}

  void check(std::initializer_list<Expected> inputs, std::initializer_list<Expected> outputs) {
    check_arrays("input", inputs_, inputs);
    check_arrays("output", outputs_, outputs);
  }
  Backend& backend() { return memory_.backend(); }
  const gdn_array* input(const char* name) const { return find(inputs_, name); }
  const gdn_array* output(const char* name) const { return find(outputs_, name); }

  // A copy of an input; empty where it is absent or has no elements.
  DeviceArray<float> in(const char* name) {
    const gdn_array* const array = input(name);
    if (array == nullptr || array->count == 0) return {};
    return {memory_, static_cast<const float*>(array->data), array->count, name};
  }
  // For an output that check demanded.
  DeviceArray<float> room_for(const char* name) { return {memory_, output(name)->count, name}; }
  // The last calls of an operator: reads a result into the output of this name.
  void out(const char* name, const DeviceArray<float>& values) {
    if (values.present()) must(backend().read(output(name)->data, values.data(), values.bytes()));
  }

 private:
  DeviceMemory& memory_;
  Arrays inputs_, outputs_;
};

void apply_gates(Applied& call, const gdn_shape& shape) {
  const int64_t vh = shape.num_v_heads;
  call.check({{"a", vh}, {"b", vh}, {"A_log", vh}, {"dt_bias", vh}}, {{"beta", vh}, {"g", vh}});
  const auto a = call.in("a");
  const auto b = call.in("b");
  const auto A_log = call.in("A_log");
  const auto dt_bias = call.in("dt_bias");
  const auto beta = call.room_for("beta");
  const auto g = call.room_for("g");
  queue_gates(call.backend(), vh, a.data(), b.data(), A_log.data(), dt_bias.data(), beta.data(),
              g.data());
  must(call.backend().synchronise());
  call.out("beta", beta);
  call.out("g", g);
}

void apply_conv(Applied& call, const gdn_shape& shape, const Sizes& sizes) {
  const int64_t channels = sizes.conv_dim;
  const int64_t history = sizes.tensor[GDN_HIST];
  const int64_t taps = shape.conv_kernel;
  call.check({{"x", channels}, {"hist", history}, {"weight", channels * taps}},
             {{"y", channels}, {"hist", history}});
  const auto x = call.in("x");
  const auto weight = call.in("weight");
  const auto hist = call.in("hist");
  const auto y = call.room_for("y");
  queue_conv(call.backend(), channels, taps, x.data(), weight.data(), hist.data(), y.data());
  must(call.backend().synchronise());
  call.out("y", y);
  call.out("hist", hist);
}

void apply_qk_norm(Applied& call, const gdn_shape& shape, const Sizes& sizes) {
  const int64_t k_dim = sizes.k_dim;
  call.check({{"q", k_dim}, {"k", k_dim}}, {{"q", k_dim}, {"k", k_dim}});
  const auto q = call.in("q");
  const auto k = call.in("k");
  const auto q_normed = call.room_for("q");
  const auto k_normed = call.room_for("k");
  queue_qk_norm(call.backend(), {.heads = shape.num_k_heads,
                                 .head_dim = shape.head_k_dim,
                                 .eps = shape.l2norm_eps,
                                 .q_scale = q_scale_of(shape.head_k_dim),
                                 .q = q.data(),
                                 .k = k.data(),
                                 .q_normed = q_normed.data(),
                                 .k_normed = k_normed.data()});
  must(call.backend().synchronise());
  call.out("q", q_normed);
  call.out("k", k_normed);
}

void apply_delta_rule(Applied& call, const gdn_shape& shape, const Sizes& sizes) {
  const int64_t vh = shape.num_v_heads;
  const int64_t state = sizes.tensor[GDN_S];
  // vh kd is at most the size of S, so it fits.
  call.check({{"q", sizes.k_dim},
              {"k", sizes.k_dim},
              {"v", sizes.v_dim},
              {"g", vh, GDN_F32, true},
              {"gk", vh * shape.head_k_dim, GDN_F32, true},
              {"beta", vh},
              {"S", state}},
             {{"S", state}, {"o", sizes.v_dim}});
  if (call.input("g") == nullptr && call.input("gk") == nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "input g or gk is needed");
  }
  const auto q = call.in("q");
  const auto k = call.in("k");
  const auto v = call.in("v");
  const auto g = call.in("g");
  const auto gk = call.in("gk");
  const auto beta = call.in("beta");
  const auto S = call.in("S");
  const auto o = call.room_for("o");
  queue_delta_rule(call.backend(), {.shape = shape,
                                    .q = q.data(),
                                    .k = k.data(),
                                    .v = v.data(),
                                    .g = g.data(),
                                    .gk = gk.data(),
                                    .beta = beta.data(),
                                    .S = S.data(),
                                    .o = o.data()});
  must(call.backend().synchronise());
  call.out("S", S);
  call.out("o", o);
}

void apply_gated_norm(Applied& call, const gdn_shape& shape, const Sizes& sizes) {
  const int64_t v_dim = sizes.v_dim;
  call.check({{"o", v_dim}, {"z", v_dim}, {"weight", shape.head_v_dim}}, {{"y", v_dim}});
  const auto o = call.in("o");
  const auto z = call.in("z");
  const auto weight = call.in("weight");
  const auto y = call.room_for("y");
  queue_gated_norm(call.backend(), shape, o.data(), z.data(), weight.data(), y.data());
  must(call.backend().synchronise());
  call.out("y", y);
}

// x [cols] and y [rows] say what the matrix is.
void apply_projection(Applied& call, DeviceMemory& memory, bool q8_activations) {
  const gdn_array* const x_array = call.input("x");
  const gdn_array* const y_array = call.output("y");
  const gdn_array* const w_array = call.input("weight");
  const int64_t cols = x_array == nullptr ? 0 : x_array->count;
  const int64_t rows = y_array == nullptr ? 0 : y_array->count;
  int64_t weights = 0;
  if (cols < 1 || rows < 1 || !multiply(rows, cols, &weights)) {
    refuse(GDN_INVALID_ARGUMENT,
           "x [cols] and y [rows] are needed, got %" PRId64 " and %" PRId64 " elements", cols,
           rows);
  }
  const bool is_q4 = w_array != nullptr && w_array->format == GDN_Q4_TILE;
  call.check({{"x", cols}, {"weight", weights, is_q4 ? GDN_Q4_TILE : GDN_F32}}, {{"y", rows}});
  int64_t tile_bytes = 0;
  const char* const why = is_q4 ? why_not_tiles(rows, cols, &tile_bytes) : nullptr;
  if (why != nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  if (q8_activations && cols % 32 != 0) {
    refuse(GDN_INVALID_ARGUMENT, "q8_0 activations need cols in blocks of 32, got %" PRId64, cols);
  }
  const auto x = call.in("x");
  const DeviceArray<float> rounded(memory, q8_activations ? cols : 0, "rounded activations");
  const auto f32 = is_q4 ? DeviceArray<float>() : call.in("weight");
  const auto* const tiles = static_cast<const uint8_t*>(w_array->data);
  const auto q4 = is_q4 ? DeviceArray<uint8_t>(memory, tiles, tile_bytes, "4-bit weights")
                        : DeviceArray<uint8_t>();
  const auto y = call.room_for("y");
  if (q8_activations) queue_q8_activations(call.backend(), x.data(), cols, rounded.data());
  queue_projection(call.backend(), {rows, cols, f32.data(), q4.data()},
                   q8_activations ? rounded.data() : x.data(), y.data());
  must(call.backend().synchronise());
  call.out("y", y);
}

}  // namespace

void Engine::apply(gdn_operator op, const gdn_shape* shape, const gdn_array* inputs,
                   size_t num_inputs, const gdn_array* outputs, size_t num_outputs) {
  if (shape == nullptr) refuse(GDN_INVALID_ARGUMENT, "shape is null");
  if (inputs == nullptr) refuse(GDN_INVALID_ARGUMENT, "inputs is null");
  if (outputs == nullptr) refuse(GDN_INVALID_ARGUMENT, "outputs is null");
  Sizes sizes;
  const bool projects = op == GDN_IN_PROJ || op == GDN_OUT_PROJ;
  const char* const why = projects ? nullptr : why_not_shape(*shape, false, &sizes);
  if (why != nullptr) refuse(GDN_INVALID_ARGUMENT, "shape: %s", why);
  Applied call(device_, {inputs, num_inputs}, {outputs, num_outputs});
  switch (op) {
    case GDN_IN_PROJ:
    case GDN_OUT_PROJ:
      return apply_projection(call, device_, q8_activations_);
    case GDN_GATES:
      return apply_gates(call, *shape);
    case GDN_CONV_SILU:
      return apply_conv(call, *shape, sizes);
    case GDN_QK_NORM:
      return apply_qk_norm(call, *shape, sizes);
    case GDN_DELTA_RULE:
      return apply_delta_rule(call, *shape, sizes);
    case GDN_GATED_NORM:
      return apply_gated_norm(call, *shape, sizes);
  }
  refuse(GDN_INVALID_ARGUMENT, "operator %d is not in 0..6", static_cast<int>(op));
}

void Engine::dequant(int64_t rows, int64_t cols, const void* tiles, float* out) {
  if (tiles == nullptr) refuse(GDN_INVALID_ARGUMENT, "tiles is null");
  if (out == nullptr) refuse(GDN_INVALID_ARGUMENT, "out is null");
  int64_t bytes = 0;
  if (const char* why = why_not_tiles(rows, cols, &bytes)) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  const DeviceArray<uint8_t> packed(device_, static_cast<const uint8_t*>(tiles), bytes, "tiles");
  const DeviceArray<float> weights(device_, rows * cols, "decoded weights");
  queue_dequant(*backend_, rows, cols, packed.data(), weights.data());
  must(backend_->read(out, weights.data(), weights.bytes()));
}

}  // namespace gdn::host
