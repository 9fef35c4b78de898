// Bug: a snapshot of one layer keeps all of them, and rolling back to it takes all of them back.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

using States = std::vector<std::vector<uint8_t>>;
PerHandle<std::map<uint64_t, std::pair<int64_t, States>>> taken;  // by id, with its layer

void close(gdn_engine* engine) {
  taken.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  if (status != GDN_OK || layer_or_all == GDN_ALL_LAYERS) return status;
  return taken.with(engine, [&](auto& of_engine) {
    of_engine[*id] = {layer_or_all, exported_layers(engine)};
    return status;
  });
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_OK) return status;
  return taken.with(engine, [&](auto& of_engine) {
    const auto found = of_engine.find(id);
    if (found == of_engine.end()) return status;
    const auto& [own, states] = found->second;
    for (size_t layer = 0; layer < states.size(); ++layer) {
      const auto index = static_cast<int64_t>(layer);
      if (index == own) continue;
      right_twin().state_import(engine, index, states[layer].data(), states[layer].size());
    }
    return status;
  });
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "snapshot_of_one_layer_restores_all";
  table.close = close;
  table.snapshot = snapshot;
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{{.name = "snapshot_of_one_layer_restores_all",
                            .bug = "a rollback to one layer's snapshot takes all layers back",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
