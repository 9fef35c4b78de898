// Bug: q is scaled by 1/sqrt(kd) in the norm and again by the caller.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  twin::QkNorm twice = how;
  twice.scale *= how.scale;
  twin::qk_norm(twice, q, k, q_out, k_out);
}

const MutantRegistrar self{
    {.name = "q_scale_twice",
     .bug = "the scale of q is applied twice",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("q_scale_twice")}};

}  // namespace
}  // namespace gdn::mutants
