// The recurrence on a pool of states, timed by the bytes of state that it must read and write.
#pragma once

#include "reference/shape.h"
#include "tests/gpu/findings.h"

namespace gdn::gpu {

class Timer;

// Batches of one token a sequence on float32 states of the shape, beside a kernel that reads and
// writes the same states and does nothing else, launched in the same way. Gives the µs that the
// latter takes for the state of one layer.
double time_recurrent(const Shape& s, const Timer& timer, int repeats, int processors,
                      Findings& found);

}  // namespace gdn::gpu
