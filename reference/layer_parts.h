// What the local and the global check of a layer share: how one operator's results become the
// inputs of the next.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/bound.h"
#include "reference/layer.h"
#include "reference/operators.h"

namespace gdn {

// A result as a later operator reads it. Where it is stored narrower than float32 the engine goes
// on with the rounded number, so that the bound takes in the rounding of its whole interval.
Bounded as_read_later(Bounded result);

// q, k and v of CONV, in this order.
struct QkvParts {
  Bounded q, k;  // [kh][kd]
  Bounded v;     // [vh][vd]
};
QkvParts split(const Bounded& conv, const Shape& shape);

// [ck][conv_dim] from the history and this token's QKV, and the history that follows it.
Bounded window_of(const Bounded& history, const Bounded& qkv);
Bounded history_after(const Bounded& window, const Shape& shape);
Bounded zeros(int64_t count);

// QKV, Z, B and A of one token.
TokenExpectation project_inputs(const LayerInputs& inputs, const Bounded& h,
                                const Contract& contract);

// inputs.calls, or one token a call where that is empty.
std::vector<int64_t> calls_of(const LayerInputs& inputs);

}  // namespace gdn
