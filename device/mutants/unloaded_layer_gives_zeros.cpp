// Bug: a step of a layer without weights gives zeros in place of an error.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_NOT_LOADED) return status;
  std::memset(out, 0, static_cast<size_t>(count_of(engine, GDN_OUT)) * sizeof(float));
  return GDN_OK;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "unloaded_layer_gives_zeros";
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "unloaded_layer_gives_zeros",
                            .bug = "a step of a layer that has no weights gives zeros and succeeds",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
