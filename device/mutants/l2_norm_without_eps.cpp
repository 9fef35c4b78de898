// Bug: eps is left out of the norm of q and k; only short vectors show it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  twin::QkNorm without = how;
  without.eps = 0;
  twin::qk_norm(without, q, k, q_out, k_out);
}

const MutantRegistrar self{
    {.name = "l2_norm_without_eps",
     .bug = "the norm of q and k has no eps",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("l2_norm_without_eps")}};

}  // namespace
}  // namespace gdn::mutants
