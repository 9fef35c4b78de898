// The table of the twin itself.
#include "device/twin/operators.h"

namespace gdn::twin {

constinit const TwinOperators twin_operators = {
    .project_f32 = project_f32,
    .project_q4 = project_q4,
    .round_to_q8 = round_to_q8,
    .gates = gates,
    .conv = conv,
    .qk_norm = qk_norm,
    .delta_rule = delta_rule,
    .gated_norm = gated_norm,
    .dequant = dequant,
};

}  // namespace gdn::twin
