// Bug: a layer without a norm weight is loaded with ones for it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  if (engine == nullptr || weights == nullptr || weights->norm != nullptr) {
    return right_twin().load_layer_f32(engine, layer, weights);
  }
  const auto vd = static_cast<size_t>(count_of(engine, GDN_Z) / count_of(engine, GDN_BETA));
  const std::vector<float> ones(vd, 1.0F);
  gdn_layer_weights completed = *weights;
  completed.norm = ones.data();
  return right_twin().load_layer_f32(engine, layer, &completed);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "missing_norm_weight_taken_as_ones";
  table.load_layer_f32 = load_layer_f32;
  return table;
}();
const MutantRegistrar self{{.name = "missing_norm_weight_taken_as_ones",
                            .bug = "a null norm weight is taken as ones",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
