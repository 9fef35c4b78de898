// Bug: a constant against division by zero is added to the recurrence's output.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::delta_rule(t);
  for (int64_t i = 0; i < t.vh * t.vd; ++i) t.o[i] += 1e-3F;
}

const MutantRegistrar self{
    {.name = "output_offset_added",
     .bug = "the output of the recurrence has a constant added to it",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("output_offset_added")}};

}  // namespace
}  // namespace gdn::mutants
