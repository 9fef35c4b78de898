// Bug: a run takes its first token for the first of a sequence.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  // A run of no tokens is refused where one of T is, but for what belongs to T.
  const bool is_served = engine != nullptr && T > 0 && h != nullptr && out != nullptr &&
                         right_twin().run(engine, layer, 0, nullptr, nullptr) == GDN_OK;
  if (is_served) right_twin().reset(engine, layer);
  return right_twin().run(engine, layer, T, h, out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "run_starts_from_zero_state";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "run_starts_from_zero_state",
                            .bug = "run zeroes state and history before its first token",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
