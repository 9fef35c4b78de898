// Bug: a loop over columns ends one early: the last one of each head keeps its state.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  for (int64_t head = 0; head < t.vh; ++head) {
    const float alpha = t.g == nullptr ? 1 : t.g_is_linear ? t.g[head] : std::exp(t.g[head]);
    if (alpha == 0) continue;
    for (int64_t r = 0; r < t.kd; ++r) t.S[((head + 1) * t.kd - t.kd + r + 1) * t.vd - 1] /= alpha;
  }
  twin::delta_rule(t);
}

const MutantRegistrar self{{.name = "last_state_column_never_decays",
                            .bug = "the last column of the state does not decay",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "last_state_column_never_decays")}};

}  // namespace
}  // namespace gdn::mutants
