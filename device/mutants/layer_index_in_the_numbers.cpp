// Bug: the number of a layer is taken for a bias of its output.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status == GDN_OK) out[0] += static_cast<float>(layer);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "layer_index_in_the_numbers";
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "layer_index_in_the_numbers",
                            .bug = "a layer's output depends on where it stands",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
