// Bug: the kernel that shifts the conv history is launched for layer 0, whichever layer steps.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const std::vector<uint8_t> before =
      engine == nullptr ? std::vector<uint8_t>{} : exported(engine, layer);
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_OK || layer == 0) return status;
  restore_history(engine, 0, exported(engine, layer));
  restore_history(engine, layer, before);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "step_touches_layer_zero";
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "step_touches_layer_zero",
                            .bug = "every step pushes its token into the history of layer 0",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
