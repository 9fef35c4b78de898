// The state of layers: reset, reading back, moving between engines, snapshots. An exported state is
// "GDNS", uint32 version, int64 hidden_size, kh, kd, vh, vd, ck, then S and HIST in float32.
#include <bit>
#include <cinttypes>
#include <cstring>

#include "device/twin/engine.h"

namespace gdn::twin {
namespace {

static_assert(std::endian::native == std::endian::little, "the exported form is little endian");

struct StateHeader {
  char magic[4];
  uint32_t version;
  int64_t hidden_size, num_k_heads, head_k_dim, num_v_heads, head_v_dim, conv_kernel;
};
static_assert(sizeof(StateHeader) == 56, "no padding in the exported header");

StateHeader header_of(const gdn_shape& s) {
  return {{'G', 'D', 'N', 'S'}, 1,
          s.hidden_size,        s.num_k_heads,
          s.head_k_dim,         s.num_v_heads,
          s.head_v_dim,         s.conv_kernel};
}

// memcpy refuses null even for nothing, and a history of no rows is null.
void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

void Engine::zero_state(Layer& layer) {
  std::memset(layer.state.data(), 0, layer.state.bytes());
  if (layer.history.count() > 0) std::memset(layer.history.data(), 0, layer.history.bytes());
  layer.has_token = false;
}

void Engine::drop_snapshots_of(int64_t layer) {
  snapshots_.remove_if([layer](const Snapshot& s) {
    return layer >= s.first_layer && layer < s.first_layer + s.layer_count;
  });
}

gdn_status Engine::reset(int64_t layer_or_all) {
  const bool all = layer_or_all == GDN_ALL_LAYERS;
  if (!all && !is_layer(layer_or_all)) return refuse_layer(layer_or_all);
  const int64_t first = all ? 0 : layer_or_all;
  const int64_t last = all ? shape_.num_layers - 1 : layer_or_all;
  for (int64_t l = first; l <= last; ++l) {
    zero_state(layers_[static_cast<size_t>(l)]);
    drop_snapshots_of(l);
  }
  return GDN_OK;
}

gdn_status Engine::read(int64_t l, gdn_tensor tensor, float* dst, int64_t capacity,
                        int64_t* count) {
  if (!is_layer(l)) return refuse_layer(l);
  if (static_cast<int>(tensor) < 0 || static_cast<int>(tensor) >= GDN_TENSOR_COUNT) {
    return refuse(GDN_INVALID_ARGUMENT, "tensor %d is not in 0..%d", static_cast<int>(tensor),
                  GDN_TENSOR_COUNT - 1);
  }
  if (dst == nullptr && count == nullptr) {
    return refuse(GDN_INVALID_ARGUMENT, "dst and count are both null");
  }
  const int64_t size = sizes_.tensor[tensor];
  if (dst == nullptr) {
    *count = size;
    return GDN_OK;
  }
  Layer& layer = layers_[static_cast<size_t>(l)];
  const bool is_state = tensor == GDN_S || tensor == GDN_HIST;
  if (!is_state && !observe_) {
    return refuse(GDN_UNSUPPORTED,
                  "only S and HIST are kept: the engine was opened without observe");
  }
  if (!is_state && !layer.has_token) {
    return refuse(GDN_NO_TOKEN, "layer %" PRId64 " has processed no token", l);
  }
  if (capacity < size) {
    return refuse(GDN_TOO_SMALL, "capacity is %" PRId64 ", the tensor has %" PRId64 " elements",
                  capacity, size);
  }
  const float* from = tensor == GDN_S      ? layer.state.data()
                      : tensor == GDN_HIST ? layer.history.data()
                                           : layer.tensors.at(tensor);
  copy(dst, from, static_cast<size_t>(size) * sizeof(float));
  if (count != nullptr) *count = size;
  return GDN_OK;
}

gdn_status Engine::state_export(int64_t l, void* dst, uint64_t capacity_bytes,
                                uint64_t* size_bytes) {
  if (!is_layer(l)) return refuse_layer(l);
  if (dst == nullptr && size_bytes == nullptr) {
    return refuse(GDN_INVALID_ARGUMENT, "dst and size_bytes are both null");
  }
  const uint64_t size = sizeof(StateHeader) + static_cast<uint64_t>(sizes_.state_bytes);
  if (dst != nullptr && capacity_bytes < size) {
    return refuse(GDN_TOO_SMALL, "capacity is %" PRIu64 " bytes, the state has %" PRIu64,
                  capacity_bytes, size);
  }
  if (dst != nullptr) {
    const Layer& layer = layers_[static_cast<size_t>(l)];
    const StateHeader header = header_of(shape_);
    auto* at = static_cast<unsigned char*>(dst);
    copy(at, &header, sizeof header);
    copy(at + sizeof header, layer.state.data(), layer.state.bytes());
    copy(at + sizeof header + layer.state.bytes(), layer.history.data(), layer.history.bytes());
  }
  if (size_bytes != nullptr) *size_bytes = size;
  return GDN_OK;
}

gdn_status Engine::state_import(int64_t l, const void* src, uint64_t size_bytes) {
  if (!is_layer(l)) return refuse_layer(l);
  if (src == nullptr) return refuse(GDN_INVALID_ARGUMENT, "src is null");
  const uint64_t size = sizeof(StateHeader) + static_cast<uint64_t>(sizes_.state_bytes);
  if (size_bytes != size) {
    return refuse(GDN_INVALID_ARGUMENT, "the state has %" PRIu64 " bytes, expected %" PRIu64,
                  size_bytes, size);
  }
  const StateHeader expected = header_of(shape_);
  StateHeader header;
  std::memcpy(&header, src, sizeof header);
  if (std::memcmp(&header, &expected, sizeof header) != 0) {
    return refuse(GDN_INVALID_ARGUMENT, "%s",
                  std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0
                      ? "the state does not begin with GDNS"
                  : header.version != expected.version ? "the state is of another version"
                                                       : "the state is of another shape");
  }
  Layer& layer = layers_[static_cast<size_t>(l)];
  const auto* at = static_cast<const unsigned char*>(src) + sizeof header;
  copy(layer.state.data(), at, layer.state.bytes());
  copy(layer.history.data(), at + layer.state.bytes(), layer.history.bytes());
  layer.has_token = false;
  drop_snapshots_of(l);
  return GDN_OK;
}

gdn_status Engine::snapshot(int64_t layer_or_all, uint64_t* id) {
  const bool all = layer_or_all == GDN_ALL_LAYERS;
  if (!all && !is_layer(layer_or_all)) return refuse_layer(layer_or_all);
  if (id == nullptr) return refuse(GDN_INVALID_ARGUMENT, "id is null");
  if (snapshots_max_ == 0) {
    return refuse(GDN_UNSUPPORTED, "the engine was opened with snapshots = 0");
  }
  const int64_t first = all ? 0 : layer_or_all;
  const int64_t layer_count = all ? shape_.num_layers : 1;
  const int64_t per_layer = sizes_.tensor[GDN_S] + sizes_.tensor[GDN_HIST];
  Array<float> values(memory_, per_layer * layer_count);
  snapshots_.push_back({next_snapshot_, first, layer_count, std::move(values)});
  float* at = snapshots_.back().values.data();
  for (int64_t l = first; l < first + layer_count; ++l) {
    const Layer& layer = layers_[static_cast<size_t>(l)];
    copy(at, layer.state.data(), layer.state.bytes());
    copy(at + layer.state.count(), layer.history.data(), layer.history.bytes());
    at += per_layer;
  }
  if (static_cast<int64_t>(snapshots_.size()) > snapshots_max_) snapshots_.pop_front();
  *id = next_snapshot_++;
  return GDN_OK;
}

gdn_status Engine::rollback(uint64_t id) {
  auto found = snapshots_.begin();
  while (found != snapshots_.end() && found->id != id) ++found;
  if (found == snapshots_.end()) {
    return refuse(GDN_NOT_FOUND, "snapshot %" PRIu64 " is not held", id);
  }
  const float* at = found->values.data();
  for (int64_t l = found->first_layer; l < found->first_layer + found->layer_count; ++l) {
    Layer& layer = layers_[static_cast<size_t>(l)];
    copy(layer.state.data(), at, layer.state.bytes());
    copy(layer.history.data(), at + layer.state.count(), layer.history.bytes());
    at += layer.state.count() + layer.history.count();
    layer.has_token = false;
  }
  snapshots_.erase(std::next(found), snapshots_.end());
  return GDN_OK;
}

}  // namespace gdn::twin
