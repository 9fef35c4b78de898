// Bug: a binding beside float32 projections is accepted; a step goes on with the projections.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  const gdn_status status = right_twin().bind_q4(engine, layer, qkv, z, out);
  return status == GDN_ALREADY_LOADED ? GDN_OK : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "both_weights_accepted";
  table.bind_q4 = bind_q4;
  return table;
}();
const MutantRegistrar self{
    {.name = "both_weights_accepted",
     .bug = "a binding of a layer that has float32 projections is accepted and ignored",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
