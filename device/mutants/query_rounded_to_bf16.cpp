// Bug: q goes on as bf16 after its norm and scale.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "query_rounded_to_bf16",
     .bug = "the normalised q is rounded to bf16",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, Rounding<as_bf16>::query>(
         "query_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
