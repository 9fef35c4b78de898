// Bug: the state is addressed by 16 bits: what belongs behind number 65535 lands at the front.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  constexpr size_t reach = 65536;
  const auto count = static_cast<size_t>(t.vh * t.kd * t.vd);
  const std::vector<float> before(t.S, t.S + (count > reach ? count : 0));
  twin::delta_rule(t);
  for (size_t i = reach; i < count; ++i) {
    t.S[i % reach] = t.S[i];
    t.S[i] = before[i];
  }
}

const MutantRegistrar self{
    {.name = "state_index_of_16_bits",
     .bug = "numbers of the state beyond the first 65536 are written over those at its front",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("state_index_of_16_bits")}};

}  // namespace
}  // namespace gdn::mutants
