// The engine `cuda` with a stack of 4-bit layers resident, timed through its own calls.
#pragma once

#include "reference/shape.h"
#include "tests/gpu/findings.h"

namespace gdn::gpu {

class Timer;

// floor_us: what a plain read of a layer's bytes takes; layer_bytes: those bytes.
void time_engine(const Shape& shape, const Timer& timer, int repeats, double floor_us,
                 double layer_bytes, Findings& found);

}  // namespace gdn::gpu
