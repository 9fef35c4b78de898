// Bug: the snapshots of a layer outlive an import, so that a rollback takes the new state away.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

struct Taken {
  std::map<uint64_t, std::vector<uint8_t>> states;  // of one layer's snapshots, by id
  std::map<uint64_t, int64_t> kept;                 // past an import, with their layer
  std::map<uint64_t, int64_t> layers;
};
PerHandle<Taken> taken;

void close(gdn_engine* engine) {
  taken.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  if (status != GDN_OK || layer_or_all == GDN_ALL_LAYERS) return status;
  return taken.with(engine, [&](Taken& of_engine) {
    of_engine.states[*id] = exported(engine, layer_or_all);
    of_engine.layers[*id] = layer_or_all;
    return status;
  });
}

gdn_status state_import(gdn_engine* engine, int64_t layer, const void* src, uint64_t size_bytes) {
  const gdn_status status = right_twin().state_import(engine, layer, src, size_bytes);
  if (status != GDN_OK) return status;
  return taken.with(engine, [&](Taken& of_engine) {
    for (const auto& [id, own] : of_engine.layers) {
      if (own == layer) of_engine.kept[id] = own;
    }
    return status;
  });
}

// What else drops a snapshot does so.
template <auto call>
gdn_status dropping(gdn_engine* engine, int64_t layer_or_all) {
  taken.with(engine, [](Taken& of_engine) { of_engine = {}; });
  return (right_twin().*call)(engine, layer_or_all);
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_NOT_FOUND) return status;
  return taken.with(engine, [&](Taken& of_engine) {
    const auto found = of_engine.kept.find(id);
    if (found == of_engine.kept.end()) return status;
    const std::vector<uint8_t>& state = of_engine.states.at(id);
    return right_twin().state_import(engine, found->second, state.data(), state.size());
  });
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "import_keeps_snapshots";
  table.close = close;
  table.snapshot = snapshot;
  table.state_import = state_import;
  table.rollback = rollback;
  table.reset = dropping<&gdn_api::reset>;
  table.unload_layer = dropping<&gdn_api::unload_layer>;
  return table;
}();
const MutantRegistrar self{
    {.name = "import_keeps_snapshots",
     .bug = "a layer's snapshots can still be rolled back to after an import",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
