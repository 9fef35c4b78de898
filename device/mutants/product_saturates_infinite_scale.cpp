// Bug: the product has a decoder of its own, which saturates: an infinite scale is 65504.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

uint16_t read_scale(uint16_t bits) {
  constexpr uint16_t sign = 0x8000;
  return (bits & ~sign) == 0x7C00 ? (bits & sign) | 0x7BFF : bits;
}

const MutantRegistrar self{
    {.name = "product_saturates_infinite_scale",
     .bug = "a projection takes an infinite scale of a block as 65504",
     .op = "in_proj",
     .api = &twin_multiplying_with<read_scale>("product_saturates_infinite_scale")}};

}  // namespace
}  // namespace gdn::mutants
