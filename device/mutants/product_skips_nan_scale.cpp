// Bug: the NaN that marks a block as unused, 0x7E00, is skipped by the product as if its weights
// were zero.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

uint16_t read_scale(uint16_t bits) { return bits == 0x7E00 ? 0 : bits; }

const MutantRegistrar self{{.name = "product_skips_nan_scale",
                            .bug = "a projection skips a block whose scale is the usual NaN",
                            .op = "in_proj",
                            .api = &twin_multiplying_with<read_scale>("product_skips_nan_scale")}};

}  // namespace
}  // namespace gdn::mutants
