// Bug: one mean square over all heads divides every head.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  const int64_t count = in.heads * in.dim;
  std::vector<float> w;
  for (int64_t i = 0; i < count; ++i) w.push_back(in.w[i % in.dim]);
  twin::GatedNorm wide = in;
  wide.heads = 1;
  wide.dim = count;
  wide.w = w.data();
  twin::gated_norm(wide, y);
}

const MutantRegistrar self{
    {.name = "norm_over_all_heads",
     .bug = "the gated norm takes its mean square over all heads",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("norm_over_all_heads")}};

}  // namespace
}  // namespace gdn::mutants
