// Bug: a grid of eight blocks takes a head each, and nobody the heads beyond: their state stays and
// their output is 0.
#include <algorithm>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  constexpr int64_t blocks = 8;
  const std::vector<float> before(t.S, t.S + t.vh * t.kd * t.vd);
  twin::delta_rule(t);
  if (t.vh <= blocks) return;
  const int64_t first = blocks * t.kd * t.vd;
  std::copy(before.begin() + first, before.end(), t.S + first);
  std::fill(t.o + blocks * t.vd, t.o + t.vh * t.vd, 0.0F);
}

const MutantRegistrar self{{.name = "heads_beyond_eight_left_out",
                            .bug = "heads beyond eight keep their state and give 0",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "heads_beyond_eight_left_out")}};

}  // namespace
}  // namespace gdn::mutants
