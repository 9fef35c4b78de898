// Bug: state below 2^-20 is taken as zero, to keep sparse.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::delta_rule(t);
  for (int64_t i = 0; i < t.vh * t.kd * t.vd; ++i) {
    if (std::fabs(t.S[i]) < 0x1p-20F) t.S[i] = 0;
  }
}

const MutantRegistrar self{
    {.name = "tiny_state_flushed",
     .bug = "elements of the state below 2^-20 are set to zero",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("tiny_state_flushed")}};

}  // namespace
}  // namespace gdn::mutants
