// Bug: g, a logarithm, is multiplied with the state as if it were the decay itself.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::DeltaRule linear = t;
  linear.g_is_linear = true;
  twin::delta_rule(linear);
}

const MutantRegistrar self{
    {.name = "gate_log_as_linear",
     .bug = "the log decay is used as the decay",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("gate_log_as_linear")}};

}  // namespace
}  // namespace gdn::mutants
