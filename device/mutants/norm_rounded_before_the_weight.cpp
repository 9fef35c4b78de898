// Bug: the normalised output passes through bf16 before weight and gate.
#include <cmath>

#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  for (int64_t head = 0; head < in.heads; ++head) {
    const float* o = in.o + head * in.dim;
    const float* z = in.z + head * in.dim;
    float sum = 0;
    for (int64_t i = 0; i < in.dim; ++i) sum += o[i] * o[i];
    const float root = std::sqrt(sum / static_cast<float>(in.dim) + in.eps);
    for (int64_t i = 0; i < in.dim; ++i) {
      const float gate = z[i] / (1.0F + std::exp(-z[i]));
      y[head * in.dim + i] = as_bf16(o[i] / root) * in.w[i] * gate;
    }
  }
}

const MutantRegistrar self{
    {.name = "norm_rounded_before_the_weight",
     .bug = "the normalised output is rounded to bf16 before weight and gate",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>(
         "norm_rounded_before_the_weight")}};

}  // namespace
}  // namespace gdn::mutants
