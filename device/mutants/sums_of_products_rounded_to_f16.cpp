// Bug: what a product with float32 rows gives is stored as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "sums_of_products_rounded_to_f16",
     .bug = "the sums of a float32 projection are rounded to f16",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, Rounding<as_f16>::sums_of_products>(
         "sums_of_products_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
