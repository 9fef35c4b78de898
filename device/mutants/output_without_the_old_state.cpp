// Bug: o is made of the new k d^T alone where the state is large: rows beyond 64 are read before
// they decay.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  const std::vector<float> before(t.S, t.S + t.vh * t.kd * t.vd);
  twin::delta_rule(t);
  for (int64_t head = 0; head < t.vh; ++head) {
    const float* q = t.q + (t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh)) * t.kd;
    for (int64_t r = 64; r < t.kd; ++r) {
      const int64_t row = (head * t.kd + r) * t.vd;
      for (int64_t j = 0; j < t.vd; ++j) {
        t.o[head * t.vd + j] += (before[row + j] - t.S[row + j]) * q[r];
      }
    }
  }
}

const MutantRegistrar self{
    {.name = "output_without_the_old_state",
     .bug = "the output takes rows beyond 64 from the state before the token",
     .op = "delta_rule",
     .api =
         &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("output_without_the_old_state")}};

}  // namespace
}  // namespace gdn::mutants
