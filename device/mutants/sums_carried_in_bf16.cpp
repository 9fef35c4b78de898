// Bug: the running sum of a float32 projection is held in bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "sums_carried_in_bf16",
                            .bug = "a float32 projection accumulates in bf16",
                            .op = "in_proj",
                            .api = &twin_summing_through<as_bf16>("sums_carried_in_bf16")}};

}  // namespace
}  // namespace gdn::mutants
