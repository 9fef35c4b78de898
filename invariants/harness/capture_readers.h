// One reader a format; each leaves what went wrong in `fields`.
#pragma once

#include "invariants/harness/capture.h"
#include "invariants/harness/capture_fields.h"

namespace gdn {

LayerCapture read_layer_capture(CaptureFields& fields);
TraceCapture read_trace_capture(CaptureFields& fields);

// An allocation may follow from a shape alone (a state, weights by rule); above this it is refused.
// Twice the weights of the largest known layer.
inline constexpr int64_t derived_bytes_max = int64_t{1} << 30;

}  // namespace gdn
