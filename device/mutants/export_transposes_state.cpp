// Bug: state_export writes S as the engine keeps it, [vd][kd], and not as [kd][vd].
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status state_export(gdn_engine* engine, int64_t layer, void* dst, uint64_t capacity_bytes,
                        uint64_t* size_bytes) {
  uint64_t size = 0;
  const gdn_status status = right_twin().state_export(engine, layer, dst, capacity_bytes, &size);
  if (size_bytes != nullptr) *size_bytes = size;
  if (status != GDN_OK || dst == nullptr) return status;
  const int64_t heads = count_of(engine, GDN_BETA);
  const int64_t vd = count_of(engine, GDN_V) / heads;
  const int64_t kd = count_of(engine, GDN_S) / (heads * vd);
  const std::vector<uint8_t> right = exported(engine, layer);
  const auto after = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t begin = right.size() - after - static_cast<size_t>(heads * kd * vd) * sizeof(float);
  auto* to = static_cast<uint8_t*>(dst);
  for (int64_t i = 0; i < heads * kd * vd; ++i) {
    const int64_t head = i / (kd * vd);
    const int64_t row = i % (kd * vd) / vd;
    const int64_t column = i % vd;
    const auto place = static_cast<size_t>((head * vd + column) * kd + row);
    std::memcpy(to + begin + place * sizeof(float),
                right.data() + begin + static_cast<size_t>(i) * sizeof(float), sizeof(float));
  }
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "export_transposes_state";
  table.state_export = state_export;
  return table;
}();
const MutantRegistrar self{{.name = "export_transposes_state",
                            .bug = "the exported state is transposed, a head at a time",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
