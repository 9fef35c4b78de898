// Bug: the output reads S as [vd][kd]; only where kd is vd does that stay inside it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::delta_rule(t);
  if (t.kd != t.vd) return;
  for (int64_t head = 0; head < t.vh; ++head) {
    const float* q = t.q + (t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh)) * t.kd;
    for (int64_t j = 0; j < t.vd; ++j) {
      const float* S = t.S + (head * t.kd + j) * t.vd;
      float sum = 0;
      for (int64_t r = 0; r < t.kd; ++r) sum += S[r] * q[r];
      t.o[head * t.vd + j] = sum;
    }
  }
}

const MutantRegistrar self{
    {.name = "state_read_transposed",
     .bug = "the output is read from the transposed state where it is square",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("state_read_transposed")}};

}  // namespace
}  // namespace gdn::mutants
