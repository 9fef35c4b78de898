// Bug: the error v - S^T k is taken before S decays, so that it belongs to the state of one token
// earlier.
#include <cmath>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

// The right rule on S decayed, with v moved by what decay took from u: d = beta (v - u_undecayed).
void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> v(t.v, t.v + t.vh * t.vd);
  for (int64_t head = 0; head < t.vh; ++head) {
    const float* k = t.k + (t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh)) * t.kd;
    const float alpha = t.g == nullptr ? 1 : t.g_is_linear ? t.g[head] : std::exp(t.g[head]);
    for (int64_t r = 0; r < t.kd; ++r) {
      const float row = t.gk == nullptr ? alpha : alpha * std::exp(t.gk[head * t.kd + r]);
      const float* S = t.S + (head * t.kd + r) * t.vd;
      for (int64_t j = 0; j < t.vd; ++j) v[head * t.vd + j] -= (S[j] - S[j] * row) * k[r];
    }
  }
  twin::DeltaRule moved = t;
  moved.v = v.data();
  twin::delta_rule(moved);
}

const MutantRegistrar self{
    {.name = "error_before_decay",
     .bug = "the error is taken from the state before it decays",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("error_before_decay")}};

}  // namespace
}  // namespace gdn::mutants
