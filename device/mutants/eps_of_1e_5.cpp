// Bug: the norm adds 1e-5 whatever it was given.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  twin::GatedNorm fixed = in;
  fixed.eps = 1e-5F;
  twin::gated_norm(fixed, y);
}

const MutantRegistrar self{
    {.name = "eps_of_1e_5",
     .bug = "the norm of the output adds 1e-5 in place of its eps",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("eps_of_1e_5")}};

}  // namespace
}  // namespace gdn::mutants
