// Bug: a read copies as many elements as there is room for, and succeeds.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  if (status != GDN_TOO_SMALL || capacity < 0) return status;
  std::vector<float> whole(static_cast<size_t>(count_of(engine, tensor)));
  const auto all = static_cast<int64_t>(whole.size());
  right_twin().read(engine, layer, tensor, whole.data(), all, nullptr);
  std::memcpy(dst, whole.data(), static_cast<size_t>(capacity) * sizeof(float));
  if (count != nullptr) *count = capacity;
  return GDN_OK;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "short_read_truncates";
  table.read = read;
  return table;
}();
const MutantRegistrar self{{.name = "short_read_truncates",
                            .bug = "a read into a short destination is cut off and succeeds",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
