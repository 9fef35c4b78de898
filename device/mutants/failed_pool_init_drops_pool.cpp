// Bug: the old pool is let go before the new one is there.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status pool_init(gdn_engine* engine, uint64_t capacity_bytes) {
  const gdn_status status = right_twin().pool_init(engine, capacity_bytes);
  if (status == GDN_OUT_OF_MEMORY) right_twin().pool_clear(engine);
  return status;
}

// pool_clear has wiped the words of the refusal, which were right.
const char* last_error(const gdn_engine* engine) {
  const char* const words = right_twin().last_error(engine);
  return engine != nullptr && *words == '\0' ? "an allocation failed" : words;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "failed_pool_init_drops_pool";
  table.pool_init = pool_init;
  table.last_error = last_error;
  return table;
}();
const MutantRegistrar self{{.name = "failed_pool_init_drops_pool",
                            .bug = "a pool_init that fails has dropped the old pool",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
