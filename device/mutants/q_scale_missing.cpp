// Bug: q is normalised and never scaled by 1/sqrt(kd).
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  twin::QkNorm other = how;
  other.scale = 1;
  twin::qk_norm(other, q, k, q_out, k_out);
}

const MutantRegistrar self{
    {.name = "q_scale_missing",
     .bug = "q is not scaled",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("q_scale_missing")}};

}  // namespace
}  // namespace gdn::mutants
