// Bug: q takes its scale and keeps its length; keys are normalised.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  std::vector<float> scaled(q, q + how.heads * how.dim);
  for (float& x : scaled) x *= how.scale;
  twin::qk_norm(how, q, k, q_out, k_out);
  std::memcpy(q_out, scaled.data(), scaled.size() * sizeof(float));
}

const MutantRegistrar self{
    {.name = "query_not_normalised",
     .bug = "queries are scaled and not normalised",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("query_not_normalised")}};

}  // namespace
}  // namespace gdn::mutants
