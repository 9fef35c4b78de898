// Bug: a load that runs out of memory on its way leaves the layer loaded.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  const gdn_status status = right_twin().load_layer_f32(engine, layer, weights);
  // What was refused once is granted now.
  if (status == GDN_OUT_OF_MEMORY) right_twin().load_layer_f32(engine, layer, weights);
  return status;
}

// The second load has wiped the words of the first, which were right.
const char* last_error(const gdn_engine* engine) {
  const char* const words = right_twin().last_error(engine);
  return engine != nullptr && *words == '\0' ? "an allocation failed" : words;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "failed_load_leaves_layer_loaded";
  table.load_layer_f32 = load_layer_f32;
  table.last_error = last_error;
  return table;
}();
const MutantRegistrar self{
    {.name = "failed_load_leaves_layer_loaded",
     .bug = "a load whose allocation failed says so and leaves the layer loaded",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
