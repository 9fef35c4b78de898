// The program as it is meant.
#include "device/ascend_sim/program.h"

#include "device/ascend_sim/core.h"

namespace gdn::ascend {

constinit const Program right_program = {
    .copied_rows = [](int64_t made, int64_t) { return made; },
    .computed_rows = [](int64_t own, int64_t) { return own; },
    .summed_lanes = [](int64_t kd, int64_t) { return kd; },
    .first_value = [](int64_t tile, int64_t v_step) { return tile * v_step; },
    .gate_index = [](int64_t token, int64_t head, int64_t,
                     int64_t padded_heads) { return token * padded_heads + head; },
    .scales_q = [](int64_t tile) { return tile == 0; },
    .flushes = [](int64_t, int64_t) { return true; },
    .start_index = [](int64_t first_token, int64_t accepted) { return first_token + accepted - 1; },
    .store_index = [](int64_t first_token, int64_t token) { return first_token + token; },
    // The last row's overrun meets nothing that is used.
    .output_pitch = [](int64_t row_bytes) { return whole_units(row_bytes); },
    .state_pitch = [](int64_t state_bytes) { return whole_units(state_bytes) + unit_bytes; },
};

}  // namespace gdn::ascend
