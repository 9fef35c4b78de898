// Bug: the pool's directory is searched as if it was sorted, and new keys go to its end: a key that
// is smaller than one put before it is not found.
#include <algorithm>
#include <set>

#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

struct Directory {
  uint64_t largest = 0;
  std::set<uint64_t> lost;
};
PerHandle<Directory> directories;

void close(gdn_engine* engine) {
  directories.forget(engine);
  right_twin().close(engine);
}

gdn_status pool_init(gdn_engine* engine, uint64_t capacity_bytes) {
  const gdn_status status = right_twin().pool_init(engine, capacity_bytes);
  if (status == GDN_OK) directories.forget(engine);
  return status;
}

gdn_status pool_clear(gdn_engine* engine) {
  const gdn_status status = right_twin().pool_clear(engine);
  if (status == GDN_OK) directories.forget(engine);
  return status;
}

gdn_status pool_put(gdn_engine* engine, uint64_t key, int64_t rows, int64_t cols,
                    const void* tiles) {
  const gdn_status status = right_twin().pool_put(engine, key, rows, cols, tiles);
  if (status != GDN_OK) return status;
  return directories.with(engine, [key](Directory& directory) {
    if (key < directory.largest) directory.lost.insert(key);
    directory.largest = std::max(directory.largest, key);
    return GDN_OK;
  });
}

bool is_lost(gdn_engine* engine, uint64_t key) {
  return directories.with(engine, [key](const Directory& of) { return of.lost.contains(key); });
}

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  constexpr uint64_t absent = UINT64_MAX;
  const auto found = [engine](uint64_t key) { return is_lost(engine, key) ? absent : key; };
  return right_twin().bind_q4(engine, layer, found(qkv), found(z), found(out));
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "pool_keys_sought_as_if_sorted";
  table.close = close;
  table.pool_init = pool_init;
  table.pool_clear = pool_clear;
  table.pool_put = pool_put;
  table.bind_q4 = bind_q4;
  return table;
}();
const MutantRegistrar self{
    {.name = "pool_keys_sought_as_if_sorted",
     .bug = "binding does not find a key that is smaller than one put into the pool before it",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
