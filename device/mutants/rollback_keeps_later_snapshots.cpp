// Bug: a rollback leaves the snapshots that were taken after its own, of tokens taken back since.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

// States of all layers by snapshot; of those alone that a rollback may still find.
struct Taken {
  size_t most = 0;
  std::map<uint64_t, std::pair<int64_t, std::vector<std::vector<uint8_t>>>> states;
};
PerHandle<Taken> taken;

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  const gdn_status status = right_twin().open(shape, options, engine);
  if (status != GDN_OK) return status;
  return taken.with(*engine, [&](Taken& of_engine) {
    of_engine.most = static_cast<size_t>(options->snapshots);
    return status;
  });
}

void close(gdn_engine* engine) {
  taken.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  if (status != GDN_OK) return status;
  return taken.with(engine, [&](Taken& of_engine) {
    of_engine.states[*id] = {layer_or_all, exported_layers(engine)};
    if (of_engine.states.size() > of_engine.most) of_engine.states.erase(of_engine.states.begin());
    return status;
  });
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_NOT_FOUND) return status;
  return taken.with(engine, [&](Taken& of_engine) {
    const auto found = of_engine.states.find(id);
    if (found == of_engine.states.end()) return status;
    const auto& [layer_or_all, states] = found->second;
    for (size_t layer = 0; layer < states.size(); ++layer) {
      const auto index = static_cast<int64_t>(layer);
      if (layer_or_all != GDN_ALL_LAYERS && layer_or_all != index) continue;
      right_twin().state_import(engine, index, states[layer].data(), states[layer].size());
    }
    return GDN_OK;
  });
}

// These drop snapshots as they should.
template <auto call, class... Arguments>
gdn_status dropping(gdn_engine* engine, Arguments... arguments) {
  const gdn_status status = (right_twin().*call)(engine, arguments...);
  if (status != GDN_OK) return status;
  return taken.with(engine, [status](Taken& of_engine) {
    of_engine.states.clear();
    return status;
  });
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "rollback_keeps_later_snapshots";
  table.open = open;
  table.close = close;
  table.snapshot = snapshot;
  table.rollback = rollback;
  table.reset = dropping<&gdn_api::reset, int64_t>;
  table.unload_layer = dropping<&gdn_api::unload_layer, int64_t>;
  table.state_import = dropping<&gdn_api::state_import, int64_t, const void*, uint64_t>;
  return table;
}();
const MutantRegistrar self{
    {.name = "rollback_keeps_later_snapshots",
     .bug = "a rollback keeps the snapshots that were taken after the one it goes back to",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
