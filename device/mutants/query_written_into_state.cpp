// Bug: the error is written along the query in place of the key; q = k hides it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

// d is what the right rule wrote along the key's largest entry, over that; a token of beta 0 gives
// the state that it was written to.
void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> decayed(t.S, t.S + t.vh * t.kd * t.vd);
  const std::vector<float> none(static_cast<size_t>(t.vh), 0.0F);
  twin::DeltaRule idle = t;
  idle.beta = none.data();
  idle.S = decayed.data();
  twin::delta_rule(idle);
  twin::delta_rule(t);
  for (int64_t head = 0; head < t.vh; ++head) {
    const int64_t k_head = t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh);
    const float* k = t.k + k_head * t.kd;
    const float* q = t.q + k_head * t.kd;
    int64_t largest = 0;
    for (int64_t r = 1; r < t.kd; ++r) {
      if (k[r] * k[r] > k[largest] * k[largest]) largest = r;
    }
    if (k[largest] == 0) continue;
    for (int64_t j = 0; j < t.vd; ++j) {
      float* const S = t.S + head * t.kd * t.vd + j;
      const float* const S_decayed = decayed.data() + head * t.kd * t.vd + j;
      const float d = (S[largest * t.vd] - S_decayed[largest * t.vd]) / k[largest];
      float o = 0;
      for (int64_t r = 0; r < t.kd; ++r) {
        S[r * t.vd] = S_decayed[r * t.vd] + q[r] * d;
        o += S[r * t.vd] * q[r];
      }
      t.o[head * t.vd + j] = o;
    }
  }
}

const MutantRegistrar self{
    {.name = "query_written_into_state",
     .bug = "the error is written into the state along q in place of k",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("query_written_into_state")}};

}  // namespace
}  // namespace gdn::mutants
