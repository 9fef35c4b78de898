// Bug: a run of several tokens computes with a copy of the state and never stores it back.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  const std::vector<uint8_t> before =
      engine == nullptr ? std::vector<uint8_t>{} : exported(engine, layer);
  const gdn_status status = right_twin().run(engine, layer, T, h, out);
  if (status == GDN_OK && T > 1) restore_state(engine, layer, before);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "state_dropped_at_call";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "state_dropped_at_call",
                            .bug = "the state that a run ends with is lost; the history stays",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
