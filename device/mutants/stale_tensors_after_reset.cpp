// Bug: reset forgets that the tensors of the last token are no longer of this sequence.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

using Tensors = std::map<int64_t, std::map<int, std::vector<float>>>;  // by layer and tensor
PerHandle<Tensors> stale;

std::map<int, std::vector<float>> tensors_of(gdn_engine* engine, int64_t layer) {
  std::map<int, std::vector<float>> tensors;
  for (int t = 0; t < GDN_S; ++t) {
    const auto tensor = static_cast<gdn_tensor>(t);
    std::vector<float> values(static_cast<size_t>(count_of(engine, tensor)));
    const auto count = static_cast<int64_t>(values.size());
    if (right_twin().read(engine, layer, tensor, values.data(), count, nullptr) != GDN_OK) continue;
    tensors[t] = std::move(values);
  }
  return tensors;
}

gdn_status reset(gdn_engine* engine, int64_t layer_or_all) {
  Tensors before;
  for (int64_t layer = 0; !exported(engine, layer).empty(); ++layer) {
    if (layer_or_all == GDN_ALL_LAYERS || layer_or_all == layer) {
      before[layer] = tensors_of(engine, layer);
    }
  }
  const gdn_status status = right_twin().reset(engine, layer_or_all);
  if (status != GDN_OK) return status;
  return stale.with(engine, [&](Tensors& of_engine) {
    for (auto& [layer, tensors] : before) of_engine[layer] = std::move(tensors);
    return status;
  });
}

gdn_status read(gdn_engine* engine, int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity,
                int64_t* count) {
  const gdn_status status = right_twin().read(engine, layer, tensor, dst, capacity, count);
  if (status != GDN_NO_TOKEN) return status;
  return stale.with(engine, [&](Tensors& of_engine) {
    const std::vector<float>& values = of_engine[layer][tensor];
    if (values.empty() || capacity < static_cast<int64_t>(values.size())) return status;
    std::memcpy(dst, values.data(), values.size() * sizeof(float));
    if (count != nullptr) *count = static_cast<int64_t>(values.size());
    return GDN_OK;
  });
}

void close(gdn_engine* engine) {
  stale.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "stale_tensors_after_reset";
  table.reset = reset;
  table.read = read;
  table.close = close;
  return table;
}();
const MutantRegistrar self{{.name = "stale_tensors_after_reset",
                            .bug = "after a reset the tensors of the token before it can be read",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
