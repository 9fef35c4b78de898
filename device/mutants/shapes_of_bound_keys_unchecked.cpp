// Bug: a matrix of another shape is taken for a binding; nothing says that it is not one.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  const gdn_status status = right_twin().bind_q4(engine, layer, qkv, z, out);
  const bool is_layer = !exported(engine, layer).empty();
  return status == GDN_INVALID_ARGUMENT && is_layer ? GDN_OK : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "shapes_of_bound_keys_unchecked";
  table.bind_q4 = bind_q4;
  return table;
}();
const MutantRegistrar self{{.name = "shapes_of_bound_keys_unchecked",
                            .bug = "a binding to a matrix of another shape succeeds",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
