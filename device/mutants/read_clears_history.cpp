// Bug: reading the conv history hands it over, and leaves zeros.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  if (status != GDN_OK || tensor != GDN_HIST || dst == nullptr) return status;
  const std::vector<uint8_t> zeros(exported(engine, layer).size(), 0);
  restore_history(engine, layer, zeros);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "read_clears_history";
  table.read = read;
  return table;
}();
const MutantRegistrar self{{.name = "read_clears_history",
                            .bug = "read of HIST zeroes the history",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
