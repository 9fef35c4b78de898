// Bug: without observe the tensors of a token read as zeros, which look like results.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  if (status != GDN_UNSUPPORTED) return status;
  const int64_t size = count_of(engine, tensor);
  if (capacity < size) return GDN_TOO_SMALL;
  std::memset(dst, 0, static_cast<size_t>(size) * sizeof(float));
  if (count != nullptr) *count = size;
  return GDN_OK;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "unobserved_tensors_are_zeros";
  table.read = read;
  return table;
}();
const MutantRegistrar self{
    {.name = "unobserved_tensors_are_zeros",
     .bug = "a tensor that an engine without observe did not store is read as zeros",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
