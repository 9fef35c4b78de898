// Bug: g goes on as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "log_decay_rounded_to_bf16",
     .bug = "the log decay is rounded to bf16",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_bf16>::log_decay>(
         "log_decay_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
