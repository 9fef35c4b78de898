// Bug: q and k change places before their norms.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void qk_norm(const twin::QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  const int64_t count = how.heads * how.dim;
  const std::vector<float> own_q(q, q + count);
  const std::vector<float> own_k(k, k + count);
  twin::qk_norm(how, own_k.data(), own_q.data(), q_out, k_out);
}

const MutantRegistrar self{
    {.name = "query_and_keys_swapped",
     .bug = "q and k are swapped",
     .op = "qk_norm",
     .api = &twin_with<&twin::TwinOperators::qk_norm, qk_norm>("query_and_keys_swapped")}};

}  // namespace
}  // namespace gdn::mutants
