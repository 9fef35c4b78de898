// One operator on arrays that are given in full: how numbers worked out by hand reach an engine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"

namespace gdn {

using Arrays = std::map<std::string, std::vector<float>>;

// A case of `subject` with nothing drawn: the arrays by the ABI's names, seed and dialect of `c`,
// but for one decay per head as a logarithm. Projections take rows and cols from their arrays;
// of recurrent, `tokens` is how many the arrays hold, and q and k go in as they are.
Case worked_case(const Case& c, Subject subject, const Shape& shape, const Arrays& arrays,
                 int64_t tokens = 0);

// What an engine gave on a case of one operator, beside what it should have given.
struct Worked {
  Verdict served;  // the others are empty unless it holds
  Arrays got;
  std::map<std::string, Bounded> want;

  // One array against the reference, and against other values within the reference's bounds:
  // literals, which a double holds to 2^-53 and a product or quotient of a few to 2^-50.
  Verdict within_bound(const std::string& name) const;
  Verdict is(const std::string& name, std::vector<double> literal) const;
};
Worked work(const Lab& lab, const Case& c);

// A shape of these heads, its other sizes and its eps those of `shape`.
Shape with_heads(Shape shape, int64_t kh, int64_t kd, int64_t vh, int64_t vd);

}  // namespace gdn
