// Bug: the reset of one layer zeroes the states of all.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status reset(gdn_engine* engine, int64_t layer_or_all) {
  const gdn_status status = right_twin().reset(engine, layer_or_all);
  return status == GDN_OK ? right_twin().reset(engine, GDN_ALL_LAYERS) : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "reset_clears_every_layer";
  table.reset = reset;
  return table;
}();
const MutantRegistrar self{{.name = "reset_clears_every_layer",
                            .bug = "reset of one layer resets all of them",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
