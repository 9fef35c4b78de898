// Bug: a short destination is refused as an invalid argument, and nobody asks for the size.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  return status == GDN_TOO_SMALL ? GDN_INVALID_ARGUMENT : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "too_small_reported_as_invalid";
  table.read = read;
  return table;
}();
const MutantRegistrar self{
    {.name = "too_small_reported_as_invalid",
     .bug = "a destination that is too small is reported as an invalid argument",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
