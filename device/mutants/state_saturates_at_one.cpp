// Bug: the state is clamped to [-1, 1]; numbers of ordinary size hardly meet it.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::delta_rule(t);
  for (int64_t i = 0; i < t.vh * t.kd * t.vd; ++i) t.S[i] = std::clamp(t.S[i], -1.0F, 1.0F);
}

const MutantRegistrar self{
    {.name = "state_saturates_at_one",
     .bug = "the state is clamped to [-1, 1]",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("state_saturates_at_one")}};

}  // namespace
}  // namespace gdn::mutants
