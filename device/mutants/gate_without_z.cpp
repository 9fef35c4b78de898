// Bug: the gate is sigmoid(z) in place of z sigmoid(z).
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  const std::vector<float> z(in.z, in.z + in.heads * in.dim);
  std::vector<float> ones(z.size(), 1.0F);
  // silu(z) is z times what is wanted; it has to be taken out where it is applied.
  twin::GatedNorm alone = in;
  alone.z = z.data();
  std::vector<float> normed(z.size());
  constexpr float large = 64;  // silu(64) is 64
  for (float& x : ones) x = large;
  alone.z = ones.data();
  twin::gated_norm(alone, normed.data());
  for (size_t i = 0; i < z.size(); ++i) y[i] = normed[i] / large / (1.0F + std::exp(-z[i]));
}

const MutantRegistrar self{
    {.name = "gate_without_z",
     .bug = "the output gate is a sigmoid in place of SiLU",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("gate_without_z")}};

}  // namespace
}  // namespace gdn::mutants
