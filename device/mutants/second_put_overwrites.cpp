// Bug: a put under a key that is there succeeds, and its bytes are what the key has from then on.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<std::map<uint64_t, std::vector<uint8_t>>> later;

gdn_status pool_put(gdn_engine* engine, uint64_t key, int64_t rows, int64_t cols,
                    const void* tiles) {
  const gdn_status status = right_twin().pool_put(engine, key, rows, cols, tiles);
  if (status != GDN_ALREADY_LOADED) return status;
  uint64_t bytes = 0;
  right_twin().pool_get(engine, key, nullptr, 0, &bytes);
  const auto* from = static_cast<const uint8_t*>(tiles);
  if (bytes != static_cast<uint64_t>(rows * cols / 32 * 18)) return GDN_OK;
  later.with(engine, [&](auto& keys) {
    keys[key].assign(from, from + bytes);
    return 0;
  });
  return GDN_OK;
}

gdn_status pool_get(gdn_engine* engine, uint64_t key, void* dst, uint64_t capacity_bytes,
                    uint64_t* size_bytes) {
  const gdn_status status = right_twin().pool_get(engine, key, dst, capacity_bytes, size_bytes);
  if (status != GDN_OK || dst == nullptr) return status;
  return later.with(engine, [&](auto& keys) {
    const auto found = keys.find(key);
    if (found != keys.end()) std::memcpy(dst, found->second.data(), found->second.size());
    return status;
  });
}

gdn_status pool_clear(gdn_engine* engine) {
  later.forget(engine);
  return right_twin().pool_clear(engine);
}

gdn_status pool_init(gdn_engine* engine, uint64_t capacity_bytes) {
  const gdn_status status = right_twin().pool_init(engine, capacity_bytes);
  if (status == GDN_OK) later.forget(engine);
  return status;
}

void close(gdn_engine* engine) {
  later.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "second_put_overwrites";
  table.pool_put = pool_put;
  table.pool_get = pool_get;
  table.pool_clear = pool_clear;
  table.pool_init = pool_init;
  table.close = close;
  return table;
}();
const MutantRegistrar self{
    {.name = "second_put_overwrites",
     .bug = "a second put under one key succeeds and replaces the bytes that pool_get gives",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
