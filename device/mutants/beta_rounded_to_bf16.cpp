// Bug: beta goes on as bf16, as where a model computes it in its own type.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "beta_rounded_to_bf16",
                            .bug = "beta is rounded to bf16",
                            .op = "gates",
                            .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_bf16>::beta>(
                                "beta_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
