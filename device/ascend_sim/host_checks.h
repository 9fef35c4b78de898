// The checks of recurrent that need nothing of what index arrays hold. Internal to the host plan.
#pragma once

#include "device/ascend_sim/host_plan.h"

namespace gdn::ascend {

struct IndexArrays {
  Seen sequences, slots, accepted, from_zero;
};

// Throws host::Failed; sets the plan's views.
IndexArrays check_arguments(const gdn_recurrent_args& args, const FindBuffer& find, HostPlan* plan);

}  // namespace gdn::ascend
