// Bug: g goes on as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "log_decay_rounded_to_f16",
     .bug = "the log decay is rounded to f16",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_f16>::log_decay>(
         "log_decay_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
