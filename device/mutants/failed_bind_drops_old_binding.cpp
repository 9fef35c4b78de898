// Bug: bind_q4 gives the old binding up before it looks for the new keys.
#include <set>

#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<std::set<int64_t>> dropped;  // layers

void close(gdn_engine* engine) {
  dropped.forget(engine);
  right_twin().close(engine);
}

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  // No token asks whether the layer could take one.
  const bool was_bound = right_twin().run(engine, layer, 0, nullptr, nullptr) == GDN_OK;
  const gdn_status status = right_twin().bind_q4(engine, layer, qkv, z, out);
  return dropped.with(engine, [&](std::set<int64_t>& layers) {
    if (status == GDN_OK) layers.erase(layer);
    if (status == GDN_NOT_FOUND && was_bound) layers.insert(layer);
    return status;
  });
}

gdn_status unload_layer(gdn_engine* engine, int64_t layer) {
  dropped.with(engine, [layer](std::set<int64_t>& layers) { layers.erase(layer); });
  return right_twin().unload_layer(engine, layer);
}

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const bool is_dropped = dropped.with(
      engine, [layer](const std::set<int64_t>& layers) { return layers.contains(layer); });
  if (!is_dropped) return right_twin().step(engine, layer, h, out);
  right_twin().step(engine, layer, nullptr, out);  // for its words
  return GDN_NOT_LOADED;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "failed_bind_drops_old_binding";
  table.close = close;
  table.bind_q4 = bind_q4;
  table.unload_layer = unload_layer;
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "failed_bind_drops_old_binding",
                            .bug = "a bind_q4 whose keys are not there leaves the layer unbound",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
