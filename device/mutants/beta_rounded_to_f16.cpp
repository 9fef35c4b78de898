// Bug: beta goes on as f16, as where a model computes it in its own type.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "beta_rounded_to_f16",
                            .bug = "beta is rounded to f16",
                            .op = "gates",
                            .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_f16>::beta>(
                                "beta_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
