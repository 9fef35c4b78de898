// Bug: q is scaled before its norm, which takes the scale out again but for eps.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  std::vector<float> scaled(q, q + how.heads * how.dim);
  for (float& x : scaled) x *= how.scale;
  twin::QkNorm unscaled = how;
  unscaled.scale = 1;
  twin::qk_norm(unscaled, scaled.data(), k, q_out, k_out);
}

const MutantRegistrar self{
    {.name = "q_scale_before_the_norm",
     .bug = "the scale of q is applied before the norm",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("q_scale_before_the_norm")}};

}  // namespace
}  // namespace gdn::mutants
