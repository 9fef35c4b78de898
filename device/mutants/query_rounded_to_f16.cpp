// Bug: q goes on as f16 after its norm and scale.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "query_rounded_to_f16",
     .bug = "the normalised q is rounded to f16",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, Rounding<as_f16>::query>(
         "query_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
