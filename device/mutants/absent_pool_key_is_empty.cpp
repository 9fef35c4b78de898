// Bug: a key that is not in the pool is taken for a matrix of no bytes.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status pool_get(gdn_engine* engine, uint64_t key, void* dst, uint64_t capacity_bytes,
                    uint64_t* size_bytes) {
  const gdn_status status = right_twin().pool_get(engine, key, dst, capacity_bytes, size_bytes);
  if (status != GDN_NOT_FOUND) return status;
  if (size_bytes != nullptr) *size_bytes = 0;
  return GDN_OK;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "absent_pool_key_is_empty";
  table.pool_get = pool_get;
  return table;
}();
const MutantRegistrar self{{.name = "absent_pool_key_is_empty",
                            .bug = "pool_get of an absent key succeeds with no bytes",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
