// Bug: eps is added to the mean of squares, kd times too much to their sum.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  twin::QkNorm other = how;
  if (how.form == GDN_QK_NORM_SUM_EPS) other.form = GDN_QK_NORM_MEAN_EPS;
  twin::qk_norm(other, q, k, q_out, k_out);
}

const MutantRegistrar self{
    {.name = "l2_norm_mean_eps",
     .bug = "the norm of q and k has eps in the mean of squares",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("l2_norm_mean_eps")}};

}  // namespace
}  // namespace gdn::mutants
