// What the engine says of itself, in the words of docs/engine-description.md: the operator's
// conventions, sums by halves, nothing fused, glibc's expf.
#include "device/ascend_sim/setting.h"

namespace gdn::ascend {
namespace {

#define HALVES R"({"kind": "order", "stages": [{"kind": "tree_halves", "fused": false}]})"

constexpr const char* text = R"({
  "name": "ascend_sim",
  "version": "1",
  "dialect": {
    "name": "ascend",
    "state_layout": "vk",
    "head_map": "grouped",
    "qk_norm": "none",
    "scale_on": "q",
    "gate_input": "log_g",
    "decay": "g_then_gk",
    "decay_order": "state_first",
    "softplus": "log_one_plus_exp",
    "beta": "bf16",
    "state_storage": "bf16",
    "input_storage": "bf16",
    "output_storage": "bf16",
    "sequence_coding": "start_and_lengths",
    "state_writes": "every_token",
    "start_slot": "accepted_minus_one",
    "padding": "not_allowed",
    "activation": "f32"
  },
  "capabilities": {
    "calls": ["open", "close", "describe", "last_error", "buffer_create", "buffer_write",
              "buffer_read", "buffer_release", "recurrent"],
    "apply": [],
    "options": ["fill"]
  },
  "contract": {
    "name": "ascend_sim",
    "delta_u": )" HALVES R"(,
    "delta_o": )" HALVES R"(,
    "fused_possible": false,
    "functions": {"exp_ulp": 1, "exp_ulp_per_x": 0, "division_ulp": 0.5, "sqrt_ulp": 0.5},
    "q_scale": "reciprocal_of_sqrt",
    "decay": "first",
    "flushes_subnormals": false,
    "activation_bits": 0,
    "recurrence": "token_loop"
  }
})";

#undef HALVES

}  // namespace

const char* description() { return text; }

}  // namespace gdn::ascend
