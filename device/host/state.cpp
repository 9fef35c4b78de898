// The state of layers: reset, reading back, moving between engines. An exported state is "GDNS",
// uint32 version, int64 hidden_size, kh, kd, vh, vd, ck, then S and HIST in float32.
#include <bit>
#include <cinttypes>
#include <cstring>

#include "device/host/engine.h"
#include "device/host/undo.h"

namespace gdn::host {
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

const char* what_differs(const StateHeader& got, const StateHeader& want) {
  if (std::memcmp(got.magic, want.magic, sizeof got.magic) != 0) {
    return "the state does not begin with GDNS";
  }
  if (got.version != want.version) return "the state is of another version";
  return std::memcmp(&got, &want, sizeof got) != 0 ? "the state is of another shape" : nullptr;
}

}  // namespace

void Engine::zero_state(Layer& layer) {
  must(backend_->zero(layer.now.S.data(), layer.now.S.bytes()));
  if (layer.now.history.present()) {
    must(backend_->zero(layer.now.history.data(), layer.now.history.bytes()));
  }
}

void Engine::reset(int64_t layer_or_all) {
  const LayerRange range = range_of(layer_or_all);
  Undo undo(*this, range);
  for (int64_t l = range.first; l < range.end(); ++l) zero_state(layer(l));
  must(backend_->synchronise());
  undo.keep();
  for (int64_t l = range.first; l < range.end(); ++l) layer(l).now.has_token = false;
  drop_snapshots_of(range);
}

void Engine::read(int64_t l, gdn_tensor tensor, float* dst, int64_t capacity, int64_t* count) {
  check_layer(l);
  if (static_cast<int>(tensor) < 0 || static_cast<int>(tensor) >= GDN_TENSOR_COUNT) {
    refuse(GDN_INVALID_ARGUMENT, "tensor %d is not in 0..%d", static_cast<int>(tensor),
           GDN_TENSOR_COUNT - 1);
  }
  if (dst == nullptr && count == nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "dst and count are both null");
  }
  const int64_t size = sizes_.tensor[tensor];
  if (dst == nullptr) {
    *count = size;
    return;
  }
  const LayerState& state = layer(l).now;
  const bool is_state = tensor == GDN_S || tensor == GDN_HIST;
  if (!is_state && !observe_) {
    refuse(GDN_UNSUPPORTED, "only S and HIST are kept: the engine was opened without observe");
  }
  if (!is_state && !state.has_token) {
    refuse(GDN_NO_TOKEN, "layer %" PRId64 " has processed no token", l);
  }
  if (capacity < size) {
    refuse(GDN_TOO_SMALL, "capacity is %" PRId64 ", the tensor has %" PRId64 " elements", capacity,
           size);
  }
  const float* const from = tensor == GDN_S      ? state.S.data()
                            : tensor == GDN_HIST ? state.history.data()
                                                 : state.tensors.at(tensor);
  if (size > 0) must(backend_->read(dst, from, static_cast<uint64_t>(size) * sizeof(float)));
  if (count != nullptr) *count = size;
}

void Engine::state_export(int64_t l, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes) {
  check_layer(l);
  if (dst == nullptr && size_bytes == nullptr) {
    refuse(GDN_INVALID_ARGUMENT, "dst and size_bytes are both null");
  }
  const LayerState& state = layer(l).now;
  const uint64_t size = sizeof(StateHeader) + state.S.bytes() + state.history.bytes();
  if (dst != nullptr && capacity_bytes < size) {
    refuse(GDN_TOO_SMALL, "capacity is %" PRIu64 " bytes, the state has %" PRIu64, capacity_bytes,
           size);
  }
  if (dst != nullptr) {
    auto* const at = static_cast<unsigned char*>(dst);
    unsigned char* const numbers = at + sizeof(StateHeader);
    must(backend_->read(numbers, state.S.data(), state.S.bytes()));
    if (state.history.present()) {
      must(backend_->read(numbers + state.S.bytes(), state.history.data(), state.history.bytes()));
    }
    const StateHeader header = header_of(shape_);
    std::memcpy(at, &header, sizeof header);
  }
  if (size_bytes != nullptr) *size_bytes = size;
}

void Engine::state_import(int64_t l, const void* src, uint64_t size_bytes) {
  check_layer(l);
  if (src == nullptr) refuse(GDN_INVALID_ARGUMENT, "src is null");
  LayerState& state = layer(l).now;
  const uint64_t size = sizeof(StateHeader) + state.S.bytes() + state.history.bytes();
  if (size_bytes != size) {
    refuse(GDN_INVALID_ARGUMENT, "the state has %" PRIu64 " bytes, expected %" PRIu64, size_bytes,
           size);
  }
  StateHeader header;
  std::memcpy(&header, src, sizeof header);
  if (const char* why = what_differs(header, header_of(shape_))) {
    refuse(GDN_INVALID_ARGUMENT, "%s", why);
  }
  Undo undo(*this, {l, 1});
  const auto* const numbers = static_cast<const unsigned char*>(src) + sizeof header;
  must(backend_->write(state.S.data(), numbers, state.S.bytes()));
  if (state.history.present()) {
    must(backend_->write(state.history.data(), numbers + state.S.bytes(), state.history.bytes()));
  }
  must(backend_->synchronise());
  undo.keep();
  state.has_token = false;
  drop_snapshots_of({l, 1});
}

}  // namespace gdn::host
