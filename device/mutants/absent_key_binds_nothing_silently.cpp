// Bug: a binding with a key that is not there succeeds and leaves the layer as it was.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  const gdn_status status = right_twin().bind_q4(engine, layer, qkv, z, out);
  return status == GDN_NOT_FOUND ? GDN_OK : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "absent_key_binds_nothing_silently";
  table.bind_q4 = bind_q4;
  return table;
}();
const MutantRegistrar self{{.name = "absent_key_binds_nothing_silently",
                            .bug = "a binding with an absent key succeeds and binds nothing",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
