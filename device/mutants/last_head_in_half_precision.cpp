// Bug: the state of the last head is kept in f16.
#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::delta_rule(t);
  float* const last = t.S + (t.vh - 1) * t.kd * t.vd;
  for (int64_t i = 0; i < t.kd * t.vd; ++i) {
    last[i] = twin::f16_to_float(twin::float_to_f16(last[i]));
  }
}

const MutantRegistrar self{{.name = "last_head_in_half_precision",
                            .bug = "the state of the last head is rounded to f16",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "last_head_in_half_precision")}};

}  // namespace
}  // namespace gdn::mutants
