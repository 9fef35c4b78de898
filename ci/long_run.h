// A recurrence over many tokens, judged against the exact one with the bound that has gathered
// since the first: what an engine's state is worth at a long horizon.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "invariants/harness/lab.h"

namespace gdn {

struct LongRun {
  int64_t tokens = 1'000'000;
  int64_t head_dim = 16;       // kd and vd, of one head
  double horizon = 1'000'000;  // tokens after which a state has decayed to 1/e
  uint64_t seed = 1;
};

// After so many tokens.
struct LongRunPoint {
  int64_t tokens = 0;
  double state_max = 0;             // the largest element of the exact S
  double error_max = 0;             // of the engine's
  double bound_max = 0;             // of any element of S
  double ratio_S = 0, ratio_O = 0;  // the worst error/bound at this token, and of all so far
};

struct LongRunReport {
  Verdict verdict;
  int64_t judged = 0;                // tokens
  std::vector<LongRunPoint> points;  // 1, 10, 100, ... tokens, and the last
};

// In calls of some hundred tokens, each of which begins with the state that the engine gave after
// the one before. Ends at the first call that fails.
LongRunReport judge_long_run(const LongRun& run, const Lab& lab,
                             const std::function<void(int64_t judged)>& progress);

}  // namespace gdn
