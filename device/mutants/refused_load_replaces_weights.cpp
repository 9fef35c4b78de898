// Bug: a second load is refused, and its weights are the layer's from then on.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  const gdn_status status = right_twin().load_layer_f32(engine, layer, weights);
  if (status != GDN_ALREADY_LOADED) return status;
  const std::vector<uint8_t> state = exported(engine, layer);
  right_twin().unload_layer(engine, layer);
  right_twin().load_layer_f32(engine, layer, weights);
  right_twin().state_import(engine, layer, state.data(), state.size());
  return right_twin().load_layer_f32(engine, layer, weights);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "refused_load_replaces_weights";
  table.load_layer_f32 = load_layer_f32;
  return table;
}();
const MutantRegistrar self{
    {.name = "refused_load_replaces_weights",
     .bug = "a load of a loaded layer is refused and replaces its weights all the same",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
