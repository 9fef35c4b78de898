// Bug: S is multiplied by exp(g) before the product with k and again before the update.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  if (t.g == nullptr) return twin::delta_rule(t);
  std::vector<float> alpha(t.g, t.g + t.vh);
  for (float& x : alpha) {
    if (!t.g_is_linear) x = std::exp(x);
    x *= x;
  }
  twin::DeltaRule twice = t;
  twice.g = alpha.data();
  twice.g_is_linear = true;
  twin::delta_rule(twice);
}

const MutantRegistrar self{
    {.name = "decay_applied_twice",
     .bug = "the state decays twice a token",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("decay_applied_twice")}};

}  // namespace
}  // namespace gdn::mutants
