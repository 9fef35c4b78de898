// Bug: the pool's directory keeps the lower half of a key.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

uint64_t cut(uint64_t key) { return key & 0xFFFF'FFFFU; }

gdn_status pool_put(gdn_engine* engine, uint64_t key, int64_t rows, int64_t cols,
                    const void* tiles) {
  return right_twin().pool_put(engine, cut(key), rows, cols, tiles);
}

gdn_status pool_get(gdn_engine* engine, uint64_t key, void* dst, uint64_t capacity_bytes,
                    uint64_t* size_bytes) {
  return right_twin().pool_get(engine, cut(key), dst, capacity_bytes, size_bytes);
}

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  return right_twin().bind_q4(engine, layer, cut(qkv), cut(z), cut(out));
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "pool_keys_of_32_bits";
  table.pool_put = pool_put;
  table.pool_get = pool_get;
  table.bind_q4 = bind_q4;
  return table;
}();
const MutantRegistrar self{{.name = "pool_keys_of_32_bits",
                            .bug = "keys of the pool are cut to 32 bits",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
