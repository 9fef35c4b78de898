// What the engine says of itself, in the words of docs/engine-description.md: the orders that the
// kernels declare above their code, correctly rounded functions (silu and sigmoid too, so within
// what their tightest form, `divide`, allows), the formulas as written. The same for every device.
#include <string>

#include "device/host/api.h"

namespace gdn::host {
namespace {

#define SUMMED_BY(stride, then)                                                                  \
  R"({"kind": "order", "stages": [{"kind": "stride", "fused": true, "size": )" stride "}, " then \
  "]}"
#define TREE R"({"kind": "tree_adjacent"})"
// A lane has four neighbouring columns of every 256 float32 weights.
#define PROJECTION SUMMED_BY("256", R"({"kind": "block", "size": 4}, )" TREE)
// One multiply-add for 64 columns in each of 16 warps; then 2 additions over lanes, 4 over warps.
#define Q4_PROJECTION \
  R"({"kind": "depth", "depth_a": 6, "depth_b": 1, "depth_c": 1024, "depth_d": 0})"
#define DELTA SUMMED_BY("16", TREE)
#define SQUARES SUMMED_BY("32", TREE)

constexpr const char* rest = R"(",
  "version": "1",
  "dialect": {
    "name": "deltaproof",
    "state_layout": "kv",
    "head_map": "grouped",
    "qk_norm": "sum_eps",
    "scale_on": "q",
    "gate_input": "raw_a",
    "decay": "per_head",
    "decay_order": "state_first",
    "softplus": "log1p_thresholds",
    "beta": "f32",
    "state_storage": "f32",
    "input_storage": "f32",
    "output_storage": "f32",
    "sequence_coding": "cumulative",
    "state_writes": "final_only",
    "start_slot": "first",
    "padding": "negative_skips",
    "activation": "f32"
  },
  "capabilities": {
    "calls": ["open", "close", "describe", "last_error", "buffer_create", "buffer_write",
              "buffer_read", "buffer_release", "apply", "dequant", "load_layer_f32",
              "unload_layer", "pool_init", "pool_put", "pool_get", "pool_clear", "bind_q4",
              "step", "run", "forward", "reset", "read", "state_export", "state_import",
              "snapshot", "rollback", "recurrent"],
    "apply": ["in_proj", "gates", "conv", "qk_norm", "delta_rule", "gated_norm", "out_proj"],
    "options": ["allocation_gate", "fill", "observe", "q8_activations", "snapshots"]
  },
  "contract": {
    "name": "kernels",
    "in_proj": )" PROJECTION R"(,
    "conv": {"kind": "order", "stages": [{"kind": "serial", "fused": true}]},
    "qk_norm": )" SQUARES R"(,
    "delta_u": )" DELTA R"(,
    "delta_o": )" DELTA R"(,
    "gated_norm": )" SQUARES R"(,
    "out_proj": )" PROJECTION R"(,
    "fused_possible": true,
    "functions": {"exp_ulp": 0.5, "exp_ulp_per_x": 0, "log1p_ulp": 0.5, "rsqrt_ulp": 0.5,
                  "sigmoid_ulp": 0.5, "division_ulp": 0.5, "sqrt_ulp": 0.5},
    "silu": "divide",
    "sigmoid": "divide",
    "qk_norm_form": "rsqrt",
    "gated_norm_form": "rsqrt",
    "mean": "divide",
    "q_scale": "rounded_constant",
    "softplus": "log1p_thresholds",
    "gate_sum_form_below": -20,
    "decay": "first",
    "flushes_subnormals": false,
    "activation_bits": 0,
    "q4_projection": )" Q4_PROJECTION R"(,
    "q4_activation_bits": 30,
    "recurrence": "token_loop",
    "chunk_tokens": 64
  }
})";

#undef SUMMED_BY
#undef TREE
#undef PROJECTION
#undef Q4_PROJECTION
#undef DELTA
#undef SQUARES

}  // namespace

std::string host_description(const char* name) {
  return std::string("{\n  \"name\": \"") + name + rest;
}

}  // namespace gdn::host
