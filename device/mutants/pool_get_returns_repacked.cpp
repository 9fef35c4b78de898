// Bug: pool_get gives the nibbles as the kernels want them, with an offset of 8.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status pool_get(gdn_engine* engine, uint64_t key, void* dst, uint64_t capacity_bytes,
                    uint64_t* size_bytes) {
  uint64_t bytes = 0;
  const gdn_status status = right_twin().pool_get(engine, key, dst, capacity_bytes, &bytes);
  if (status != GDN_OK) return right_twin().pool_get(engine, key, dst, capacity_bytes, size_bytes);
  if (size_bytes != nullptr) *size_bytes = bytes;
  constexpr uint64_t tile_bytes = 72;
  constexpr uint64_t scale_bytes = 8;
  auto* const tiles = static_cast<uint8_t*>(dst);
  for (uint64_t at = 0; tiles != nullptr && at < bytes; ++at) {
    if (at % tile_bytes >= scale_bytes) tiles[at] ^= 0x88;
  }
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "pool_get_returns_repacked";
  table.pool_get = pool_get;
  return table;
}();
const MutantRegistrar self{
    {.name = "pool_get_returns_repacked",
     .bug = "pool_get gives tiles as they were repacked, not as they were put",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
