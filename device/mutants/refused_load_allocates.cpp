// Bug: a load asks for the weights' memory before it finds the layer loaded, and gives it back.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  const gdn_status status = right_twin().load_layer_f32(engine, layer, weights);
  const Gate gate = gate_of(engine);
  if (status != GDN_ALREADY_LOADED || gate.ask == nullptr) return status;
  constexpr uint64_t bytes = 64;
  if (gate.ask(gate.context, bytes, 0) == 0) gate.ask(gate.context, bytes, 1);
  return status;
}

const gdn_api api = [] {
  gdn_api table = twin_remembering_gates("refused_load_allocates");
  table.load_layer_f32 = load_layer_f32;
  return table;
}();
const MutantRegistrar self{
    {.name = "refused_load_allocates",
     .bug = "a load that is refused because the layer is loaded has allocated before",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
