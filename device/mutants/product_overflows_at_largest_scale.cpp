// Bug: the product has a decoder of its own, whose test for an overflow takes the largest scale
// too.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

uint16_t read_scale(uint16_t bits) {
  constexpr uint16_t sign = 0x8000;
  return (bits & ~sign) == 0x7BFF ? (bits & sign) | 0x7C00 : bits;
}

const MutantRegistrar self{
    {.name = "product_overflows_at_largest_scale",
     .bug = "a projection takes a scale of 65504 as infinity",
     .op = "in_proj",
     .api = &twin_multiplying_with<read_scale>("product_overflows_at_largest_scale")}};

}  // namespace
}  // namespace gdn::mutants
