// Bug: a block of 128 threads takes a row of the state each, and nobody the rows beyond: they get
// no part of a write and give none to a read.
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  constexpr int64_t threads = 128;
  std::vector<float> q(t.q, t.q + t.kh * t.kd), k(t.k, t.k + t.kh * t.kd);
  for (int64_t i = 0; i < t.kh * t.kd; ++i) {
    if (i % t.kd >= threads) q[i] = k[i] = 0;
  }
  twin::DeltaRule within = t;
  within.q = q.data();
  within.k = k.data();
  twin::delta_rule(within);
}

const MutantRegistrar self{
    {.name = "keys_beyond_128_left_out",
     .bug = "rows of the state beyond 128 are neither written nor read",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("keys_beyond_128_left_out")}};

}  // namespace
}  // namespace gdn::mutants
