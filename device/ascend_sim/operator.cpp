// Cores run one after the other; that they could have run at once is what the log of global memory
// knows.
#include "device/ascend_sim/operator.h"

#include <algorithm>

#include "device/ascend_sim/unit_program.h"

namespace gdn::ascend {
namespace {

// Every access ends with the operator.
void forget(Problem& problem) {
  for (Global* array : {&problem.q, &problem.k, &problem.v, &problem.beta, &problem.g, &problem.gk,
                        &problem.o, &problem.state}) {
    array->log = {};
  }
}

}  // namespace

Report run(Problem& problem, const Plan& plan, const Program& program) {
  Report report;
  if (problem.dimensions.vd == 0) return report;
  Cut work = cut(problem.sequences, problem.dimensions.v_heads, plan);
  report.abandoned = std::move(work.abandoned);
  forget(problem);
  for (size_t c = 0; c < work.of_core.size(); ++c) {
    if (work.of_core[c].empty()) continue;
    Core core(static_cast<int64_t>(c), local_bytes_max, plan.poison, plan.schedule);
    UnitProgram of_core(core, problem, plan, program);
    for (const Unit& unit : work.of_core[c]) of_core.run(unit);
    core.finish();
    report.hazards.insert(report.hazards.end(), core.hazards().begin(), core.hazards().end());
  }
  return report;
}

}  // namespace gdn::ascend
