// Bug: exp(g) is held in bf16, where everything above 0.998 is 1.
#include <bit>
#include <cmath>

#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  if (t.g == nullptr) return twin::delta_rule(t);
  std::vector<float> alpha(t.g, t.g + t.vh);
  for (float& x : alpha) {
    const uint16_t narrow = twin::float_to_bf16(t.g_is_linear ? x : std::exp(x));
    x = std::bit_cast<float>(uint32_t{narrow} << 16);
  }
  twin::DeltaRule narrowed = t;
  narrowed.g = alpha.data();
  narrowed.g_is_linear = true;
  twin::delta_rule(narrowed);
}

const MutantRegistrar self{
    {.name = "decay_held_in_bf16",
     .bug = "the decay is rounded to bf16",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("decay_held_in_bf16")}};

}  // namespace
}  // namespace gdn::mutants
