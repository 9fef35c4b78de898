// Bug: the weight is stored as w and used as 1 + w, as other norms of such models do.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  std::vector<float> w(in.w, in.w + in.dim);
  for (float& x : w) x += 1;
  twin::GatedNorm moved = in;
  moved.w = w.data();
  twin::gated_norm(moved, y);
}

const MutantRegistrar self{
    {.name = "norm_weight_plus_one",
     .bug = "the weight of the norm is used as 1 + w",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("norm_weight_plus_one")}};

}  // namespace
}  // namespace gdn::mutants
