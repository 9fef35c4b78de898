// What q8_0 rounding makes of activations that are known exactly, or to within a bound.
#pragma once

#include "reference/bound.h"

namespace gdn {

// Exact x: the engine's own float32 operations, bit for bit, and bound 0. Carried bounds: the
// values that x as it stands rounds to, and how far those of any x within its bound can lie from
// them; one flipped code is a whole step. A block with an infinity decodes to NaN and infinities,
// which ones is free; one with a NaN is undecided, since the conversion of NaN to an integer is the
// machine's. x.size() is a multiple of 32.
Bounded q8_0_activations(const Bounded& x);

}  // namespace gdn
