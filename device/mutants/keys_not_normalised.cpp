// Bug: q alone is normalised; keys keep their length.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  const std::vector<float> keys(k, k + how.heads * how.dim);
  twin::qk_norm(how, q, k, q_out, k_out);
  std::memcpy(k_out, keys.data(), keys.size() * sizeof(float));
}

const MutantRegistrar self{
    {.name = "keys_not_normalised",
     .bug = "keys are not normalised",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("keys_not_normalised")}};

}  // namespace
}  // namespace gdn::mutants
