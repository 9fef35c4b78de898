// The engine's own memory, addressed by recurrent.
#include <cinttypes>
#include <cstring>

#include "device/twin/engine.h"

namespace gdn::twin {
gdn_status Engine::buffer_create(uint64_t bytes, gdn_buffer* buffer) {
  if (buffer == nullptr) return refuse(GDN_INVALID_ARGUMENT, "buffer is null");
  if (bytes > static_cast<uint64_t>(INT64_MAX)) {
    return refuse(GDN_OUT_OF_MEMORY, "a buffer of %" PRIu64 " bytes", bytes);
  }
  buffers_.emplace(next_buffer_, Array<unsigned char>(memory_, static_cast<int64_t>(bytes)));
  *buffer = next_buffer_++;
  return GDN_OK;
}

gdn_status Engine::buffer_write(gdn_buffer buffer, uint64_t offset_bytes, const void* src,
                                uint64_t bytes) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  const uint64_t size = found->second.bytes();
  if (bytes > size || offset_bytes > size - bytes) {
    return refuse(GDN_INVALID_ARGUMENT,
                  "%" PRIu64 " bytes at %" PRIu64 " do not lie in a buffer of %" PRIu64, bytes,
                  offset_bytes, size);
  }
  if (bytes == 0) return GDN_OK;
  if (src == nullptr) return refuse(GDN_INVALID_ARGUMENT, "src is null");
  std::memcpy(found->second.data() + offset_bytes, src, bytes);
  return GDN_OK;
}

gdn_status Engine::buffer_read(gdn_buffer buffer, uint64_t offset_bytes, void* dst,
                               uint64_t bytes) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  const uint64_t size = found->second.bytes();
  if (bytes > size || offset_bytes > size - bytes) {
    return refuse(GDN_INVALID_ARGUMENT,
                  "%" PRIu64 " bytes at %" PRIu64 " do not lie in a buffer of %" PRIu64, bytes,
                  offset_bytes, size);
  }
  if (bytes == 0) return GDN_OK;
  if (dst == nullptr) return refuse(GDN_INVALID_ARGUMENT, "dst is null");
  std::memcpy(dst, found->second.data() + offset_bytes, bytes);
  return GDN_OK;
}

gdn_status Engine::buffer_release(gdn_buffer buffer) {
  if (buffers_.erase(buffer) == 0) return refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  return GDN_OK;
}

}  // namespace gdn::twin
