// Bug: a write goes to the beginning of its buffer, whatever its offset.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status buffer_write(gdn_engine* engine, gdn_buffer buffer, uint64_t offset_bytes,
                        const void* src, uint64_t bytes) {
  // The right one first, on nothing, for what it refuses.
  std::vector<uint8_t> there(bytes < (uint64_t{1} << 30) ? bytes : 0);
  const gdn_status status =
      right_twin().buffer_read(engine, buffer, offset_bytes, there.data(), bytes);
  if (status != GDN_OK || src == nullptr) {
    return right_twin().buffer_write(engine, buffer, offset_bytes, src, bytes);
  }
  return right_twin().buffer_write(engine, buffer, 0, src, bytes);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "buffer_write_ignores_offset";
  table.buffer_write = buffer_write;
  return table;
}();
const MutantRegistrar self{{.name = "buffer_write_ignores_offset",
                            .bug = "buffer_write writes at the beginning of the buffer",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
