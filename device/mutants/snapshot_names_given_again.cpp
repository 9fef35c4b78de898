// Bug: a snapshot is called by its place among those that are held, so that one that is gone gives
// its name to the next.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<std::vector<uint64_t>> held;  // the right ids, by name - 1

void close(gdn_engine* engine) {
  held.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  uint64_t taken = 0;
  const gdn_status status =
      right_twin().snapshot(engine, layer_or_all, id == nullptr ? nullptr : &taken);
  if (status != GDN_OK) return status;
  *id = held.with(engine, [&](std::vector<uint64_t>& ids) {
    ids.push_back(taken);
    return ids.size();
  });
  return status;
}

gdn_status rollback(gdn_engine* engine, uint64_t name) {
  return held.with(engine, [&](std::vector<uint64_t>& ids) {
    const bool known = name > 0 && name <= ids.size();
    const gdn_status status = right_twin().rollback(engine, known ? ids[name - 1] : UINT64_MAX);
    if (status == GDN_OK) ids.resize(name);
    return status;
  });
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "snapshot_names_given_again";
  table.close = close;
  table.snapshot = snapshot;
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{
    {.name = "snapshot_names_given_again",
     .bug = "a snapshot that a rollback dropped gives its name to the next one that is taken",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
