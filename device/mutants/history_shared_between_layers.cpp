// Bug: the layers have states of their own and one conv history between them.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status share(gdn_engine* engine, int64_t layer, gdn_status status) {
  if (status != GDN_OK) return status;
  const std::vector<std::vector<uint8_t>> states = exported_layers(engine);
  for (size_t other = 0; other < states.size(); ++other) {
    if (static_cast<int64_t>(other) == layer) continue;
    restore_history(engine, static_cast<int64_t>(other), states[static_cast<size_t>(layer)]);
  }
  return status;
}

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  return share(engine, layer, right_twin().step(engine, layer, h, out));
}

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  return share(engine, layer, right_twin().run(engine, layer, T, h, out));
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "history_shared_between_layers";
  table.step = step;
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "history_shared_between_layers",
                            .bug = "all layers share one conv history",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
