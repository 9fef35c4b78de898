// Bug: a released buffer is still there to be read.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<std::map<gdn_buffer, uint64_t>> released;

gdn_status buffer_release(gdn_engine* engine, gdn_buffer buffer) {
  const gdn_status status = right_twin().buffer_release(engine, buffer);
  if (status != GDN_OK) return status;
  return released.with(engine, [&](auto& buffers) {
    buffers[buffer] = 0;
    return status;
  });
}

gdn_status buffer_read(gdn_engine* engine, gdn_buffer buffer, uint64_t offset_bytes, void* dst,
                       uint64_t bytes) {
  const gdn_status status = right_twin().buffer_read(engine, buffer, offset_bytes, dst, bytes);
  const bool was = released.with(engine, [&](auto& buffers) { return buffers.contains(buffer); });
  if (status != GDN_NOT_FOUND || !was || dst == nullptr) return status;
  std::memset(dst, 0, bytes);
  return GDN_OK;
}

void close(gdn_engine* engine) {
  released.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "released_buffer_is_found";
  table.buffer_release = buffer_release;
  table.buffer_read = buffer_read;
  table.close = close;
  return table;
}();
const MutantRegistrar self{{.name = "released_buffer_is_found",
                            .bug = "a buffer that was released can be read",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
