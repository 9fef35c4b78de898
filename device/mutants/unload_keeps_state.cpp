// Bug: unload_layer drops the weights and leaves state and history to whoever loads next.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status unload_layer(gdn_engine* engine, int64_t layer) {
  const std::vector<uint8_t> before =
      engine == nullptr ? std::vector<uint8_t>{} : exported(engine, layer);
  const gdn_status status = right_twin().unload_layer(engine, layer);
  if (status == GDN_OK) right_twin().state_import(engine, layer, before.data(), before.size());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "unload_keeps_state";
  table.unload_layer = unload_layer;
  return table;
}();
const MutantRegistrar self{{.name = "unload_keeps_state",
                            .bug = "unloading a layer keeps its S and its history",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
