// The operator: the recurrence of sequences of a few tokens each, as it is cut over cores and moved
// through their local memory. It checks of its arguments what cut() says and no more.
#pragma once

#include <cstdint>
#include <vector>

#include "device/ascend_sim/plan.h"
#include "device/ascend_sim/program.h"

namespace gdn::ascend {

// Arrays lie dense in global memory, but for rows of o and states, which have pitches. With
// bytes enough for what the last rows overrun.
struct Problem {
  Dimensions dimensions;
  Sequences sequences;
  std::vector<int32_t> indices;  // [T]: the slot of each token
  float scale = 1;
  Global q, k, v, beta;  // [T][heads][dim], [T][v_heads]
  Global g, gk;          // float32 [T][v_heads], [T][v_heads][kd]; without bytes: absent
  Global o;              // [T][v_heads] rows of vd
  Global state;          // [slots][v_heads] states of [vd][kd]
  int64_t o_pitch = 0, state_pitch = 0;  // bytes from one row, and one head's state, to the next
};

struct Report {
  std::vector<Hazard> hazards;
  std::vector<Abandoned> abandoned;
};

// plan: v_step and depth are chosen, and fit.
Report run(Problem& problem, const Plan& plan, const Program& program);

}  // namespace gdn::ascend
