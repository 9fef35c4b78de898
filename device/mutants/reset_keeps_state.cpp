// Bug: reset forgets the conv history and keeps the recurrent state.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status reset(gdn_engine* engine, int64_t layer_or_all) {
  const auto before =
      engine == nullptr ? std::vector<std::vector<uint8_t>>{} : exported_layers(engine);
  const gdn_status status = right_twin().reset(engine, layer_or_all);
  if (status != GDN_OK) return status;
  for (size_t layer = 0; layer < before.size(); ++layer) {
    const auto index = static_cast<int64_t>(layer);
    if (layer_or_all != GDN_ALL_LAYERS && layer_or_all != index) continue;
    restore_state(engine, index, before[layer]);
  }
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "reset_keeps_state";
  table.reset = reset;
  return table;
}();
const MutantRegistrar self{{.name = "reset_keeps_state",
                            .bug = "reset zeroes the conv history and keeps S",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
