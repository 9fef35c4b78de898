// Bug: the output is read before the state takes this token in.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> before(t.S, t.S + t.vh * t.kd * t.vd);
  twin::delta_rule(t);
  const std::vector<float> none(static_cast<size_t>(t.vh), 0.0F);
  twin::DeltaRule old = t;
  old.S = before.data();
  old.beta = none.data();
  twin::delta_rule(old);
}

const MutantRegistrar self{
    {.name = "output_from_the_old_state",
     .bug = "the output reads the decayed state without this token",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("output_from_the_old_state")}};

}  // namespace
}  // namespace gdn::mutants
