// Bug: o is multiplied by silu(z) and normalised after that.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  std::vector<float> gated(in.o, in.o + in.heads * in.dim);
  for (int64_t i = 0; i < in.heads * in.dim; ++i) {
    gated[static_cast<size_t>(i)] *= in.z[i] / (1 + std::exp(-in.z[i]));
  }
  // At 128 the gate is 128 to the last bit, and a power of two goes out again without a trace.
  const std::vector<float> open(gated.size(), 128.0F);
  twin::GatedNorm norm = in;
  norm.o = gated.data();
  norm.z = open.data();
  twin::gated_norm(norm, y);
  for (int64_t i = 0; i < in.heads * in.dim; ++i) y[i] /= 128;
}

const MutantRegistrar self{
    {.name = "gate_before_norm",
     .bug = "the gate is applied before the norm",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("gate_before_norm")}};

}  // namespace
}  // namespace gdn::mutants
