// Bug: later value channels of a head decay a little more than the first.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  for (int64_t i = 0; i < t.vh * t.kd * t.vd; ++i) {
    t.S[i] *= 1 - 0x1p-10F * static_cast<float>(i % t.vd);
  }
  twin::delta_rule(t);
}

const MutantRegistrar self{{.name = "channel_index_in_the_decay",
                            .bug = "the decay of a value channel depends on its index",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "channel_index_in_the_decay")}};

}  // namespace
}  // namespace gdn::mutants
