// Bug: the error beta (v - S^T k) is rounded to bf16 before it is written.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  // S as it decays without an update; then d, by the book, and what it adds.
  const std::vector<float> none(static_cast<size_t>(t.vh));
  twin::DeltaRule decays = t;
  decays.beta = none.data();
  decays.q = t.k;
  twin::delta_rule(decays);
  std::vector<float> d(t.o, t.o + t.vh * t.vd);  // S^T k, of the state that decayed
  for (int64_t i = 0; i < t.vh * t.vd; ++i) d[i] = as_bf16(t.beta[i / t.vd] * (t.v[i] - d[i]));
  for (int64_t head = 0; head < t.vh; ++head) {
    const float* k = t.k + (t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh)) * t.kd;
    for (int64_t i = 0; i < t.kd * t.vd; ++i) {
      t.S[head * t.kd * t.vd + i] += k[i / t.vd] * d[head * t.vd + i % t.vd];
    }
  }
  decays.q = t.q;
  decays.g = nullptr;
  decays.gk = nullptr;
  twin::delta_rule(decays);
}

const MutantRegistrar self{
    {.name = "error_rounded_to_bf16",
     .bug = "the error is rounded to bf16 before it is written",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("error_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
