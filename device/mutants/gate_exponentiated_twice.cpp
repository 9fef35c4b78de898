// Bug: the decay that arrives is exp(g) already and is exponentiated once more.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  if (t.g == nullptr || t.g_is_linear) return twin::delta_rule(t);
  std::vector<float> g(t.g, t.g + t.vh);
  for (float& x : g) x = std::exp(x);
  twin::DeltaRule twice = t;
  twice.g = g.data();
  twin::delta_rule(twice);
}

const MutantRegistrar self{
    {.name = "gate_exponentiated_twice",
     .bug = "the decay is exponentiated twice",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("gate_exponentiated_twice")}};

}  // namespace
}  // namespace gdn::mutants
