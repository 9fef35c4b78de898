// Bug: where there are decays of rows beside that of the head, they are left out.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::DeltaRule without = t;
  without.gk = nullptr;
  twin::delta_rule(without);
}

const MutantRegistrar self{
    {.name = "channel_decays_ignored",
     .bug = "the decay per key channel is ignored",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("channel_decays_ignored")}};

}  // namespace
}  // namespace gdn::mutants
