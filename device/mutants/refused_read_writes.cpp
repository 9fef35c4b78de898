// Bug: a read fills what room there is before it says that there is too little.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  if (status == GDN_TOO_SMALL && capacity > 0) dst[0] = 0;
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "refused_read_writes";
  table.read = read;
  return table;
}();
const MutantRegistrar self{
    {.name = "refused_read_writes",
     .bug = "a read that is refused for a short destination has written into it",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
