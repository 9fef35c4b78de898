// Bug: a load asks for the weights' memory before it finds the layer loaded, and gives it back.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<Gate> gates;

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  const gdn_status status = right_twin().open(shape, options, engine);
  if (status != GDN_OK) return status;
  gates.with(*engine, [options](Gate& gate) {
    gate = {options->allocation_gate, options->allocation_context};
    return 0;
  });
  return status;
}

void close(gdn_engine* engine) {
  gates.forget(engine);
  right_twin().close(engine);
}

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  const gdn_status status = right_twin().load_layer_f32(engine, layer, weights);
  const Gate gate = gates.with(engine, [](const Gate& of_engine) { return of_engine; });
  if (status != GDN_ALREADY_LOADED || gate.ask == nullptr) return status;
  constexpr uint64_t bytes = 64;
  if (gate.ask(gate.context, bytes, 0) == 0) gate.ask(gate.context, bytes, 1);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "refused_load_allocates";
  table.open = open;
  table.close = close;
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
