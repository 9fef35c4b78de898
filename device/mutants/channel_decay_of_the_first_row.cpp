// Bug: every row takes the decay of row 0 of its head.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  if (t.gk == nullptr) return twin::delta_rule(t);
  std::vector<float> first(t.gk, t.gk + t.vh * t.kd);
  for (int64_t i = 0; i < t.vh * t.kd; ++i) first[i] = t.gk[i - i % t.kd];
  twin::DeltaRule alike = t;
  alike.gk = first.data();
  twin::delta_rule(alike);
}

const MutantRegistrar self{{.name = "channel_decay_of_the_first_row",
                            .bug = "every key channel decays as the first one",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "channel_decay_of_the_first_row")}};

}  // namespace
}  // namespace gdn::mutants
