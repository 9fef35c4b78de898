// Bug: the product has a decoder of its own, whose loop over a subnormal scale ends one bit early.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

uint16_t read_scale(uint16_t bits) {
  constexpr uint16_t sign = 0x8000;
  return (bits & ~sign) == 0x0001 ? (bits & sign) | 0x0000 : bits;
}

const MutantRegistrar self{
    {.name = "product_loses_smallest_scale",
     .bug = "a projection takes the smallest subnormal scale of a block as 0",
     .op = "in_proj",
     .api = &twin_multiplying_with<read_scale>("product_loses_smallest_scale")}};

}  // namespace
}  // namespace gdn::mutants
