// Bug: k beta v^T is added to the state; what the key held before stays in the sum.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  const std::vector<float> none(static_cast<size_t>(t.vh), 0.0F);
  twin::DeltaRule without = t;
  without.beta = none.data();
  twin::delta_rule(without);
  for (int64_t head = 0; head < t.vh; ++head) {
    const float* k = t.k + (t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh)) * t.kd;
    for (int64_t r = 0; r < t.kd; ++r) {
      float* S = t.S + (head * t.kd + r) * t.vd;
      for (int64_t j = 0; j < t.vd; ++j) S[j] += k[r] * t.beta[head] * t.v[head * t.vd + j];
    }
  }
  // The state is what it is to be: neither decay nor update, the output alone.
  without.g = without.gk = nullptr;
  twin::delta_rule(without);
}

const MutantRegistrar self{
    {.name = "plain_sum_without_error",
     .bug = "the state adds k v^T in place of the error, a plain linear attention",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("plain_sum_without_error")}};

}  // namespace
}  // namespace gdn::mutants
