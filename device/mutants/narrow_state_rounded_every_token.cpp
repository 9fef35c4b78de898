// Bug: a state that is stored in bf16 or f16 is rounded after every token of a call, not where it
// is stored.
#include "device/mutants/batches.h"
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

// Of the call that this thread is making.
thread_local gdn_format stored = GDN_F32;

void delta_rule(const twin::DeltaRule& token) {
  twin::delta_rule(token);
  const int64_t count = token.vh * token.kd * token.vd;
  if (stored == GDN_BF16) round_all<as_bf16>(token.S, count);
  if (stored == GDN_F16) round_all<as_f16>(token.S, count);
}

const gdn_api& rounding_twin() {
  return twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
      "narrow_state_rounded_every_token");
}

gdn_status recurrent(gdn_engine* engine, const Args* args) {
  stored = args == nullptr ? GDN_F32 : args->state.format;
  const gdn_status status = rounding_twin().recurrent(engine, args);
  stored = GDN_F32;
  return status;
}

const gdn_api api = [] {
  gdn_api table = rounding_twin();
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "narrow_state_rounded_every_token",
                            .bug = "a narrow state is rounded after every token of a call",
                            .op = "delta_rule",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
