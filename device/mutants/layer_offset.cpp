// Bug: the state of a layer reaches one head too far, into the first head of the next layer.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_OK) return status;
  const std::vector<uint8_t> from = exported(engine, layer);
  std::vector<uint8_t> next = exported(engine, layer + 1);
  if (next.empty()) return status;
  const auto heads = static_cast<size_t>(count_of(engine, GDN_BETA));
  const auto state_bytes = static_cast<size_t>(count_of(engine, GDN_S)) * sizeof(float);
  const auto history_bytes = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t begin = from.size() - history_bytes - state_bytes;
  std::memcpy(next.data() + begin, from.data() + begin, state_bytes / heads);
  right_twin().state_import(engine, layer + 1, next.data(), next.size());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "layer_offset";
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "layer_offset",
                            .bug = "a step also writes the first head of the next layer's state",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
