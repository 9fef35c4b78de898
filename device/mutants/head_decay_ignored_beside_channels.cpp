// Bug: where rows have decays of their own, that of the head is left out.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::DeltaRule without = t;
  if (t.gk != nullptr) without.g = nullptr;
  twin::delta_rule(without);
}

const MutantRegistrar self{{.name = "head_decay_ignored_beside_channels",
                            .bug = "the decay of the head is ignored beside that of its channels",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "head_decay_ignored_beside_channels")}};

}  // namespace
}  // namespace gdn::mutants
