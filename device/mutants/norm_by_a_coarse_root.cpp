// Bug: 1 / sqrt is the instruction of 11 bits without the step that refines it.
#include <bit>
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  if (how.form == GDN_QK_NORM_NONE) return twin::qk_norm(how, q, k, q_out, k_out);
  const auto normalise = [&](const float* x, float scale, float* out) {
    for (int64_t begin = 0; begin < how.heads * how.dim; begin += how.dim) {
      float sum = 0;
      for (int64_t i = begin; i < begin + how.dim; ++i) sum += x[i] * x[i];
      const float added = how.form == GDN_QK_NORM_MEAN_EPS ? how.dim * how.eps : how.eps;
      const float exact = 1.0F / std::sqrt(sum + added);
      const float coarse = std::bit_cast<float>(std::bit_cast<uint32_t>(exact) & 0xffffe000U);
      for (int64_t i = begin; i < begin + how.dim; ++i) out[i] = x[i] * coarse * scale;
    }
  };
  if (how.form == GDN_QK_NORM_MAX) return twin::qk_norm(how, q, k, q_out, k_out);
  normalise(q, how.scale, q_out);
  normalise(k, 1, k_out);
}

const MutantRegistrar self{
    {.name = "norm_by_a_coarse_root",
     .bug = "the norm of q and k has 11 bits",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("norm_by_a_coarse_root")}};

}  // namespace
}  // namespace gdn::mutants
