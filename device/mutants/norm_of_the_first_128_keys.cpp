// Bug: 128 threads square a key channel each and nobody those beyond, whose squares are missing
// from the norm.
#include <cmath>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  constexpr int64_t threads = 128;
  const std::vector<float> keys(k, k + how.heads * how.dim);
  twin::qk_norm(how, q, k, q_out, k_out);
  if (how.dim <= threads || how.form != GDN_QK_NORM_SUM_EPS) return;
  for (int64_t head = 0; head < how.heads; ++head) {
    const float* const key = &keys[static_cast<size_t>(head * how.dim)];
    float sum = 0;
    for (int64_t i = 0; i < threads; ++i) sum += key[i] * key[i];
    const float norm = std::sqrt(sum + how.eps);
    for (int64_t i = 0; i < how.dim; ++i) k_out[head * how.dim + i] = key[i] / norm;
  }
}

const MutantRegistrar self{
    {.name = "norm_of_the_first_128_keys",
     .bug = "squares of key channels beyond 128 are missing from the norm",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("norm_of_the_first_128_keys")}};

}  // namespace
}  // namespace gdn::mutants
