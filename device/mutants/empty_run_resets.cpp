// Bug: a run of no tokens is taken for the start of a sequence.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  const gdn_status status = right_twin().run(engine, layer, T, h, out);
  if (status == GDN_OK && T == 0) right_twin().reset(engine, layer);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "empty_run_resets";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "empty_run_resets",
                            .bug = "run with T = 0 zeroes the layer's state",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
