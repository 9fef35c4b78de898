// Bug: eps is added to the root of the mean square and not under it.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  const std::vector<float> z(in.z, in.z + in.heads * in.dim);
  const std::vector<float> o(in.o, in.o + in.heads * in.dim);
  for (int64_t head = 0; head < in.heads; ++head) {
    const auto begin = static_cast<size_t>(head * in.dim);
    const auto end = begin + static_cast<size_t>(in.dim);
    float sum = 0;
    for (size_t i = begin; i < end; ++i) sum += o[i] * o[i];
    const float root = std::sqrt(sum / static_cast<float>(in.dim)) + in.eps;
    for (size_t i = begin; i < end; ++i) {
      y[i] = o[i] / root * in.w[i - begin] * (z[i] / (1 + std::exp(-z[i])));
    }
  }
}

const MutantRegistrar self{
    {.name = "rms_eps_outside_root",
     .bug = "eps of the gated norm is added outside the root",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("rms_eps_outside_root")}};

}  // namespace
}  // namespace gdn::mutants
