// From what the model of a layer's life says of it to what the reference is asked.
#pragma once

#include "invariants/harness/life.h"
#include "reference/case.h"
#include "reference/layer.h"

namespace gdn {

// Views of the matrices that a layer computes with; valid as long as `numbers`.
LayerWeights weights_used(const Numbers& numbers, const WeightsUsed& used, const Shape& shape);
// The matrices of a layer as they are, each in its own place.
bool are_plain(const WeightsUsed& used, const Case& c);
// S and HIST before a first token are zero; nothing else can be read.
TokenExpectation zero_state(const Shape& shape);

}  // namespace gdn
