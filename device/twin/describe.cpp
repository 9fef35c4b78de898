// What the twin says of itself, in the words of docs/engine-description.md: serial sums, nothing
// fused, glibc's expf and log1pf, the formulas as written.
#include "device/twin/engine.h"

namespace gdn::twin {
namespace {

#define SERIAL R"({"kind": "order", "stages": [{"kind": "serial", "fused": false}]})"

constexpr const char* description = R"({
  "name": "twin",
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
    "name": "twin",
    "in_proj": )" SERIAL R"(,
    "conv": )" SERIAL R"(,
    "qk_norm": )" SERIAL R"(,
    "delta_u": )" SERIAL R"(,
    "delta_o": )" SERIAL R"(,
    "gated_norm": )" SERIAL R"(,
    "out_proj": )" SERIAL R"(,
    "fused_possible": false,
    "functions": {"exp_ulp": 1, "exp_ulp_per_x": 0, "log1p_ulp": 1, "rsqrt_ulp": 2,
                  "sigmoid_ulp": 2, "division_ulp": 0.5, "sqrt_ulp": 0.5},
    "silu": "divide",
    "sigmoid": "divide",
    "qk_norm_form": "divide_by_sqrt",
    "gated_norm_form": "divide_by_sqrt",
    "mean": "divide",
    "q_scale": "reciprocal_of_sqrt",
    "softplus": "log1p_thresholds",
    "gate_sum_form_below": -20,
    "decay": "first",
    "flushes_subnormals": false,
    "activation_bits": 0,
    "recurrence": "token_loop",
    "chunk_tokens": 64
  }
})";

#undef SERIAL

}  // namespace

const char* twin_description() { return description; }

}  // namespace gdn::twin
