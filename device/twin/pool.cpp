// Weights of layers: loaded as float32, or bound by key to 4-bit matrices of the pool.
#include <cinttypes>
#include <cstring>

#include "device/twin/engine.h"
#include "device/twin/formats.h"

namespace gdn::twin {
namespace {

Array<float> copy_of(Memory& memory, const float* values, int64_t count) {
  Array<float> copy(memory, count);
  std::memcpy(copy.data(), values, copy.bytes());
  return copy;
}

const char* first_null(const gdn_layer_weights& w) {
  if (w.b == nullptr) return "b";
  if (w.a == nullptr) return "a";
  if (w.conv == nullptr) return "conv";
  if (w.A_log == nullptr) return "A_log";
  if (w.dt_bias == nullptr) return "dt_bias";
  if (w.norm == nullptr) return "norm";
  return nullptr;
}

}  // namespace

gdn_status Engine::load_layer_f32(int64_t l, const gdn_layer_weights* weights) {
  if (!is_layer(l)) return refuse_layer(l);
  if (weights == nullptr) return refuse(GDN_INVALID_ARGUMENT, "weights is null");
  if (weights->struct_size != sizeof *weights) {
    return refuse(GDN_INVALID_ARGUMENT, "weights.struct_size is %u, expected %zu",
                  weights->struct_size, sizeof *weights);
  }
  const int large = (weights->qkv != nullptr) + (weights->z != nullptr) + (weights->out != nullptr);
  if (large != 0 && large != 3) {
    return refuse(GDN_INVALID_ARGUMENT, "qkv, z and out: all three or none, got %d", large);
  }
  if (const char* name = first_null(*weights)) {
    return refuse(GDN_INVALID_ARGUMENT, "%s is null", name);
  }
  Layer& layer = layers_[static_cast<size_t>(l)];
  if (layer.loaded) {
    return refuse(GDN_ALREADY_LOADED, "layer %" PRId64 " is loaded%s", l,
                  layer.is_bound() ? " and bound to the pool" : "");
  }

  const int64_t hidden = shape_.hidden_size;
  const int64_t heads = shape_.num_v_heads;
  Layer fresh;
  if (large == 3) {
    fresh.qkv.f32 = copy_of(memory_, weights->qkv, sizes_.conv_dim * hidden);
    fresh.z.f32 = copy_of(memory_, weights->z, sizes_.v_dim * hidden);
    fresh.out.f32 = copy_of(memory_, weights->out, hidden * sizes_.v_dim);
  }
  fresh.b = copy_of(memory_, weights->b, heads * hidden);
  fresh.a = copy_of(memory_, weights->a, heads * hidden);
  fresh.conv = copy_of(memory_, weights->conv, sizes_.conv_dim * shape_.conv_kernel);
  fresh.A_log = copy_of(memory_, weights->A_log, heads);
  fresh.dt_bias = copy_of(memory_, weights->dt_bias, heads);
  fresh.norm = copy_of(memory_, weights->norm, shape_.head_v_dim);
  fresh.loaded = true;
  fresh.state = std::move(layer.state);
  fresh.history = std::move(layer.history);
  fresh.tensors = std::move(layer.tensors);
  layer = std::move(fresh);
  return GDN_OK;
}

gdn_status Engine::unload_layer(int64_t l) {
  if (!is_layer(l)) return refuse_layer(l);
  Layer& layer = layers_[static_cast<size_t>(l)];
  Layer bare;
  bare.state = std::move(layer.state);
  bare.history = std::move(layer.history);
  bare.tensors = std::move(layer.tensors);
  layer = std::move(bare);
  return reset(l);
}

void Engine::drop_bindings() {
  for (Layer& layer : layers_) layer.unbind();
}

gdn_status Engine::pool_init(uint64_t capacity_bytes) {
  if (capacity_bytes > static_cast<uint64_t>(INT64_MAX)) {
    return refuse(GDN_OUT_OF_MEMORY, "a pool of %" PRIu64 " bytes", capacity_bytes);
  }
  Array<uint8_t> fresh(memory_, static_cast<int64_t>(capacity_bytes));
  pool_clear();
  pool_.bytes = std::move(fresh);
  return GDN_OK;
}

gdn_status Engine::pool_clear() {
  drop_bindings();
  pool_.entries.clear();
  pool_.used_bytes = 0;
  return GDN_OK;
}

gdn_status Engine::pool_put(uint64_t key, int64_t rows, int64_t cols, const void* tiles) {
  if (tiles == nullptr) return refuse(GDN_INVALID_ARGUMENT, "tiles is null");
  int64_t bytes = 0;
  if (const char* why = why_not_tiles(rows, cols, &bytes)) {
    return refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " x %" PRId64 ": %s", rows, cols, why);
  }
  if (pool_.entries.contains(key)) {
    return refuse(GDN_ALREADY_LOADED, "key %" PRIu64 " is present", key);
  }
  const uint64_t free_bytes = pool_.bytes.bytes() - pool_.used_bytes;
  if (static_cast<uint64_t>(bytes) > free_bytes) {
    return refuse(GDN_OUT_OF_MEMORY, "%" PRId64 " bytes do not fit: %" PRIu64 " of %zu are free",
                  bytes, free_bytes, pool_.bytes.bytes());
  }
  uint8_t* at = pool_.bytes.data() + pool_.used_bytes;
  pool_.entries.emplace(key, PoolEntry{rows, cols, at, static_cast<uint64_t>(bytes)});
  std::memcpy(at, tiles, static_cast<size_t>(bytes));
  pool_.used_bytes += static_cast<uint64_t>(bytes);
  return GDN_OK;
}

gdn_status Engine::pool_get(uint64_t key, void* dst, uint64_t capacity_bytes,
                            uint64_t* size_bytes) {
  if (dst == nullptr && size_bytes == nullptr) {
    return refuse(GDN_INVALID_ARGUMENT, "dst and size_bytes are both null");
  }
  const auto found = pool_.entries.find(key);
  if (found == pool_.entries.end()) {
    return refuse(GDN_NOT_FOUND, "key %" PRIu64 " is not in the pool", key);
  }
  const PoolEntry& entry = found->second;
  if (dst != nullptr && capacity_bytes < entry.bytes) {
    return refuse(GDN_TOO_SMALL, "capacity is %" PRIu64 " bytes, the matrix has %" PRIu64,
                  capacity_bytes, entry.bytes);
  }
  if (dst != nullptr) std::memcpy(dst, entry.tiles, entry.bytes);
  if (size_bytes != nullptr) *size_bytes = entry.bytes;
  return GDN_OK;
}

gdn_status Engine::bind_q4(int64_t l, uint64_t key_qkv, uint64_t key_z, uint64_t key_out) {
  if (!is_layer(l)) return refuse_layer(l);
  Layer& layer = layers_[static_cast<size_t>(l)];
  if (!layer.loaded) return refuse(GDN_NOT_LOADED, "layer %" PRId64 " has no weights", l);
  if (layer.has_f32()) {
    return refuse(GDN_ALREADY_LOADED, "layer %" PRId64 " has float32 projections", l);
  }
  struct Wanted {
    const char* name;
    uint64_t key;
    int64_t rows, cols;
    const PoolEntry* found;
  };
  Wanted wanted[] = {{"qkv", key_qkv, sizes_.conv_dim, shape_.hidden_size, nullptr},
                     {"z", key_z, sizes_.v_dim, shape_.hidden_size, nullptr},
                     {"out", key_out, shape_.hidden_size, sizes_.v_dim, nullptr}};
  for (Wanted& w : wanted) {
    const auto found = pool_.entries.find(w.key);
    if (found == pool_.entries.end()) {
      return refuse(GDN_NOT_FOUND, "%s: key %" PRIu64 " is not in the pool", w.name, w.key);
    }
    w.found = &found->second;
    if (w.found->rows != w.rows || w.found->cols != w.cols) {
      return refuse(GDN_INVALID_ARGUMENT,
                    "%s: key %" PRIu64 " is %" PRId64 " x %" PRId64 ", expected %" PRId64
                    " x %" PRId64,
                    w.name, w.key, w.found->rows, w.found->cols, w.rows, w.cols);
    }
  }
  layer.qkv.q4 = wanted[0].found;
  layer.z.q4 = wanted[1].found;
  layer.out.q4 = wanted[2].found;
  return GDN_OK;
}

}  // namespace gdn::twin
