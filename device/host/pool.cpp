// The pool of 4-bit matrices by key, and layers' bindings to them. Matrices lie one after the other
// in one allocation; each starts where the last one ended, so capacity counts tile bytes alone.
#include <cinttypes>

#include "device/host/engine.h"

namespace gdn::host {

void Engine::drop_bindings() {
  for (int64_t l = 0; l < shape_.num_layers; ++l) {
    if (layer(l).is_bound()) drop_graphs(l);
    layer(l).unbind();
  }
}

void Engine::pool_init(uint64_t capacity_bytes) {
  if (capacity_bytes > static_cast<uint64_t>(INT64_MAX)) {
    refuse(GDN_OUT_OF_MEMORY, "a pool of %" PRIu64 " bytes", capacity_bytes);
  }
  DeviceArray<uint8_t> fresh(device_, static_cast<int64_t>(capacity_bytes), "4-bit pool");
  pool_clear();
  pool_.bytes = std::move(fresh);
}

void Engine::pool_clear() {
  drop_bindings();
  pool_.entries.clear();
  pool_.used_bytes = 0;
}

void Engine::pool_put(uint64_t key, int64_t rows, int64_t cols, const void* tiles) {
  if (tiles == nullptr) refuse(GDN_INVALID_ARGUMENT, "tiles is null");
  int64_t bytes = 0;
  if (const char* why = why_not_tiles(rows, cols, &bytes)) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  if (pool_.entries.contains(key)) {
    refuse(GDN_ALREADY_LOADED, "key %" PRIu64 " is present", key);
  }
  const uint64_t free_bytes = pool_.bytes.bytes() - pool_.used_bytes;
  if (static_cast<uint64_t>(bytes) > free_bytes) {
    refuse(GDN_OUT_OF_MEMORY, "%" PRId64 " bytes do not fit: %" PRIu64 " of %" PRIu64 " are free",
           bytes, free_bytes, pool_.bytes.bytes());
  }
  uint8_t* const at = pool_.bytes.data() + pool_.used_bytes;
  const PoolEntry entry = {rows, cols, at, static_cast<uint64_t>(bytes)};
  const auto added = pool_.entries.emplace(key, entry).first;
  Status written = backend_->write(at, tiles, entry.bytes);
  if (written.ok()) written = backend_->synchronise();
  if (!written.ok()) {
    pool_.entries.erase(added);
    throw Failed{written};
  }
  pool_.used_bytes += entry.bytes;
}

void Engine::pool_get(uint64_t key, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes) {
  if (dst == nullptr && size_bytes == nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "dst and size_bytes are both null");
  }
  const auto found = pool_.entries.find(key);
  if (found == pool_.entries.end()) {
    refuse(GDN_NOT_FOUND, "key %" PRIu64 " is not in the pool", key);
  }
  const PoolEntry& entry = found->second;
  if (dst != nullptr && capacity_bytes < entry.bytes) {
    refuse(GDN_TOO_SMALL, "capacity is %" PRIu64 " bytes, the matrix has %" PRIu64, capacity_bytes,
           entry.bytes);
  }
  if (dst != nullptr) must(backend_->read(dst, entry.tiles, entry.bytes));
  if (size_bytes != nullptr) *size_bytes = entry.bytes;
}

void Engine::bind_q4(int64_t l, uint64_t key_qkv, uint64_t key_z, uint64_t key_out) {
  check_layer(l);
  Layer& target = layer(l);
  if (!target.loaded) refuse(GDN_NOT_LOADED, "layer %" PRId64 " has no weights", l);
  if (target.has_f32()) {
    refuse(GDN_ALREADY_LOADED, "layer %" PRId64 " has float32 projections", l);
  }
  const auto matrix = [this](const char* name, uint64_t key, int64_t rows, int64_t cols) {
    const auto found = pool_.entries.find(key);
    if (found == pool_.entries.end()) {
      refuse(GDN_NOT_FOUND, "%s: key %" PRIu64 " is not in the pool", name, key);
    }
    const PoolEntry& entry = found->second;
    if (entry.rows != rows || entry.cols != cols) {
      refuse(GDN_INVALID_ARGUMENT,
             "%s: key %" PRIu64 " is %" PRId64 " x %" PRId64 ", expected %" PRId64 " x %" PRId64,
             name, key, entry.rows, entry.cols, rows, cols);
    }
    return &entry;
  };
  const PoolEntry* const qkv = matrix("qkv", key_qkv, sizes_.conv_dim, shape_.hidden_size);
  const PoolEntry* const z = matrix("z", key_z, sizes_.v_dim, shape_.hidden_size);
  const PoolEntry* const out = matrix("out", key_out, shape_.hidden_size, sizes_.v_dim);
  drop_graphs(l);
  target.qkv.q4 = qkv;
  target.z.q4 = z;
  target.out.q4 = out;
}

}  // namespace gdn::host
