// The harness's regimes as a RapidCheck generator: drawn by our own Rng, since RapidCheck's floats
// are never NaN, infinite or subnormal; shrunk by Case::neighbours.
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <ostream>
#include <string>

#include "invariants/harness/regimes.h"
#include "reference/case.h"

namespace gdn {

// How RapidCheck shows a case.
inline void showValue(const Case& c, std::ostream& out) { out << print(c); }

template <class Draw>
rc::Gen<Case> case_gen(Draw draw_one) {
  return [draw_one](const rc::Random& random, int) {
    rc::Random own = random;
    Rng rng(own.next());
    return rc::shrinkable::shrinkRecur(
        draw_one(rng), [](const Case& c) { return rc::seq::fromContainer(c.neighbours()); });
  };
}
inline rc::Gen<Case> case_gen() {
  return case_gen([](Rng& rng) { return draw(rng); });
}

// The seed and the number of cases of a program, unless RC_PARAMS is set; RapidCheck prints it.
inline void use_fixed_seed(uint64_t seed, int64_t cases) {
  const std::string parameters =
      "seed=" + std::to_string(seed) + " max_success=" + std::to_string(cases);
  setenv("RC_PARAMS", parameters.c_str(), 0);
}

}  // namespace gdn
