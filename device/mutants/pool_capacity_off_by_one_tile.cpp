// Bug: the pool is one tile larger than it was asked to be.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status pool_init(gdn_engine* engine, uint64_t capacity_bytes) {
  constexpr uint64_t tile_bytes = 72;
  return right_twin().pool_init(engine, capacity_bytes + tile_bytes);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "pool_capacity_off_by_one_tile";
  table.pool_init = pool_init;
  return table;
}();
const MutantRegistrar self{{.name = "pool_capacity_off_by_one_tile",
                            .bug = "a pool takes one tile more than its capacity",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
