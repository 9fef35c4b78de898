// Bug: unloading a layer drops the snapshots of all layers, those too that do not hold it.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

struct Names {
  uint64_t newest = 0, dropped = 0;  // ids grow
};
PerHandle<Names> names_of;

void close(gdn_engine* engine) {
  names_of.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  if (status != GDN_OK) return status;
  return names_of.with(engine, [id](Names& names) {
    names.newest = *id;
    return GDN_OK;
  });
}

gdn_status unload_layer(gdn_engine* engine, int64_t layer) {
  const gdn_status status = right_twin().unload_layer(engine, layer);
  if (status != GDN_OK) return status;
  return names_of.with(engine, [](Names& names) {
    names.dropped = names.newest;
    return GDN_OK;
  });
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const bool gone = names_of.with(engine, [id](const Names& names) { return id <= names.dropped; });
  return right_twin().rollback(engine, gone ? UINT64_MAX : id);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "unload_drops_every_snapshot";
  table.close = close;
  table.snapshot = snapshot;
  table.unload_layer = unload_layer;
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{{.name = "unload_drops_every_snapshot",
                            .bug = "unloading a layer drops snapshots of other layers too",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
