// Bug: room is made for a new snapshot before there is one.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

struct Held {
  std::vector<uint64_t> ids;  // oldest first
  uint64_t dropped = 0;
};
PerHandle<Held> held;

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  return held.with(engine, [&](Held& of_engine) {
    if (status == GDN_OK) of_engine.ids.push_back(*id);
    if (status != GDN_OUT_OF_MEMORY || of_engine.ids.empty()) return status;
    of_engine.dropped = of_engine.ids.front();
    of_engine.ids.erase(of_engine.ids.begin());
    return status;
  });
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const uint64_t dropped = held.with(engine, [](const Held& h) { return h.dropped; });
  if (id != 0 && id == dropped) return right_twin().rollback(engine, 0);
  return right_twin().rollback(engine, id);
}

void close(gdn_engine* engine) {
  held.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "failed_snapshot_drops_oldest";
  table.snapshot = snapshot;
  table.rollback = rollback;
  table.close = close;
  return table;
}();
const MutantRegistrar self{{.name = "failed_snapshot_drops_oldest",
                            .bug = "a snapshot whose allocation failed has dropped the oldest",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
