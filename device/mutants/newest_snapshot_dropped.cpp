// Bug: where more snapshots are taken than are kept, the newest of those held goes, not the oldest.
#include <algorithm>
#include <map>
#include <mutex>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

struct Held {
  size_t limit;
  std::vector<uint64_t> ids;  // oldest first
};
std::mutex lock;
std::map<const gdn_engine*, Held> held;

// The twin itself never has to drop one.
constexpr int32_t snapshots_enough = 1 << 20;

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  if (options == nullptr || options->snapshots < 1) {
    return right_twin().open(shape, options, engine);
  }
  gdn_options more = *options;
  more.snapshots = snapshots_enough;
  const gdn_status status = right_twin().open(shape, &more, engine);
  if (status != GDN_OK) return status;
  const std::lock_guard<std::mutex> guard(lock);
  held[*engine] = {static_cast<size_t>(options->snapshots), {}};
  return status;
}

void close(gdn_engine* engine) {
  {
    const std::lock_guard<std::mutex> guard(lock);
    held.erase(engine);
  }
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  if (status != GDN_OK) return status;
  const std::lock_guard<std::mutex> guard(lock);
  Held& of_engine = held[engine];
  if (of_engine.ids.size() == of_engine.limit) of_engine.ids.pop_back();
  of_engine.ids.push_back(*id);
  return status;
}

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const std::lock_guard<std::mutex> guard(lock);
  std::vector<uint64_t>& ids = held[engine].ids;
  const auto found = std::find(ids.begin(), ids.end(), id);
  // The twin has none of this number, and says so.
  if (found == ids.end()) return right_twin().rollback(engine, 0);
  const gdn_status status = right_twin().rollback(engine, id);
  if (status == GDN_OK) ids.erase(found + 1, ids.end());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "newest_snapshot_dropped";
  table.open = open;
  table.close = close;
  table.snapshot = snapshot;
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{
    {.name = "newest_snapshot_dropped",
     .bug = "beyond the limit the latest snapshot held is dropped in place of the oldest",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
