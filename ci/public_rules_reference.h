// The layer and the recurrence as plain loops in float64, as public suites write their reference:
// for sequences too long to be worked out exactly for each of them.
#pragma once

#include <vector>

#include "reference/case.h"

namespace gdn {

struct PlainRun {
  std::vector<double> output;  // OUT [tokens][hidden], or o [tokens][vh][vd]
  std::vector<double> state;   // after the last token, [vh][kd][vd]
};

// Of subject layer or recurrent with one layer and the conventions of dialect `deltaproof`, but for
// gate_input of the recurrence, which is log_g.
PlainRun plain_run(const Case& c);

}  // namespace gdn
