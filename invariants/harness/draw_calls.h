// Random calls of the ABI, right ones and wrong ones.
#pragma once

#include <vector>

#include "invariants/harness/life.h"
#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// A call that makes a valid case after those that the model has seen. Often it is what brings a
// layer nearer to being ready, else any, with one argument in a few wrong.
Call draw_call(Rng& rng, const Case& c, const LifeModel& model);
// So many of them, one after the other.
std::vector<Call> draw_calls(Rng rng, const Case& c, int64_t count);
// May it follow? Its tokens are there, and its h_id is the out_id of a call of as many.
bool may_follow(const Call& call, const Case& c, const LifeModel& model);

}  // namespace gdn
