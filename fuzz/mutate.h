// Small changes of a case for coverage-guided search: a field of it, a call, a bit of a number.
// What comes out is valid again, and is a pure function of what goes in.
#pragma once

#include <functional>

#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// Which cases a target is about; a change that leads out of it is tried again elsewhere.
using Serves = std::function<bool(const Case&)>;

// `c` itself where no change was found that fits.
Case mutated(const Case& c, Rng& rng, const Serves& serves);
// Parts of both: the calls, the recipe, the shape or the numbers of `other` in `c`.
Case crossed(const Case& c, const Case& other, Rng& rng, const Serves& serves);

}  // namespace gdn
