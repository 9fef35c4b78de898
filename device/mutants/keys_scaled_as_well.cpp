// Bug: k is scaled by 1/sqrt(kd) as q is.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  twin::qk_norm(how, q, k, q_out, k_out);
  for (int64_t i = 0; i < how.heads * how.dim; ++i) k_out[i] *= how.scale;
}

const MutantRegistrar self{
    {.name = "keys_scaled_as_well",
     .bug = "k has the scale of q as well",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("keys_scaled_as_well")}};

}  // namespace
}  // namespace gdn::mutants
