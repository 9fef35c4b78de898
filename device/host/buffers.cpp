// The engine's own memory, addressed by recurrent.
#include <cinttypes>

#include "device/host/engine.h"

namespace gdn::host {

void Engine::buffer_create(uint64_t bytes, gdn_buffer* buffer) {
  if (buffer == nullptr) refuse(GDN_INVALID_ARGUMENT, "buffer is null");
  if (bytes > static_cast<uint64_t>(INT64_MAX)) {
    refuse(GDN_OUT_OF_MEMORY, "a buffer of %" PRIu64 " bytes", bytes);
  }
  const auto count = static_cast<int64_t>(bytes);
  buffers_.emplace(next_buffer_, DeviceArray<unsigned char>(device_, count, "buffer", Use::sparse));
  *buffer = next_buffer_++;
}

void Engine::check_buffer(gdn_buffer buffer, uint64_t offset_bytes, uint64_t bytes,
                          const void* host) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  const uint64_t size = found->second.bytes();
  if (bytes > size || offset_bytes > size - bytes) {
    refuse(GDN_INVALID_ARGUMENT,
           "%" PRIu64 " bytes at %" PRIu64 " do not lie in a buffer of %" PRIu64, bytes,
           offset_bytes, size);
  }
  if (bytes > 0 && host == nullptr) refuse(GDN_INVALID_ARGUMENT, "the host's address is null");
}

void Engine::buffer_write(gdn_buffer buffer, uint64_t offset_bytes, const void* src,
                          uint64_t bytes) {
  check_buffer(buffer, offset_bytes, bytes, src);
  if (bytes == 0) return;
  must(backend_->write(buffers_.find(buffer)->second.data() + offset_bytes, src, bytes));
  must(backend_->synchronise());
}

void Engine::buffer_read(gdn_buffer buffer, uint64_t offset_bytes, void* dst, uint64_t bytes) {
  check_buffer(buffer, offset_bytes, bytes, dst);
  if (bytes == 0) return;
  must(backend_->read(dst, buffers_.find(buffer)->second.data() + offset_bytes, bytes));
}

void Engine::buffer_release(gdn_buffer buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  // Work that is queued may still use it.
  must(backend_->synchronise());
  buffers_.erase(found);
}

}  // namespace gdn::host
