// Bug: the number of a layer is cut to 32 bits, so that 2^32 is layer 0.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

int64_t cut(int64_t layer) { return static_cast<int32_t>(static_cast<uint32_t>(layer)); }

template <auto call, class... Arguments>
gdn_status of_cut(gdn_engine* engine, int64_t layer, Arguments... arguments) {
  return (right_twin().*call)(engine, cut(layer), arguments...);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "layers_of_32_bits";
  table.unload_layer = of_cut<&gdn_api::unload_layer>;
  table.step = of_cut<&gdn_api::step, const float*, float*>;
  table.run = of_cut<&gdn_api::run, int64_t, const float*, float*>;
  table.reset = of_cut<&gdn_api::reset>;
  table.read = of_cut<&gdn_api::read, gdn_tensor, float*, int64_t, int64_t*>;
  return table;
}();
const MutantRegistrar self{{.name = "layers_of_32_bits",
                            .bug = "the number of a layer is taken modulo 2^32",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
