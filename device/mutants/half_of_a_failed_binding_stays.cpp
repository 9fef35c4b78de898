// Bug: a binding stores each key as it finds it, and keeps those when a later one is absent.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

struct Keys {
  uint64_t qkv, z, out;
};
PerHandle<std::map<int64_t, Keys>> bound;

// The new keys as far as they are found, the old ones from there on.
gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  const auto right = right_twin().bind_q4;
  const gdn_status status = right(engine, layer, qkv, z, out);
  return bound.with(engine, [&](std::map<int64_t, Keys>& layers) {
    if (status == GDN_OK) layers[layer] = {qkv, z, out};
    const auto old = layers.find(layer);
    if (status != GDN_NOT_FOUND || old == layers.end()) return status;
    Keys& keys = old->second;
    if (right(engine, layer, qkv, z, keys.out) == GDN_OK) {
      keys = {qkv, z, keys.out};
    } else if (right(engine, layer, qkv, keys.z, keys.out) == GDN_OK) {
      keys.qkv = qkv;
    }
    return right(engine, layer, qkv, z, out);
  });
}

gdn_status unload_layer(gdn_engine* engine, int64_t layer) {
  const gdn_status status = right_twin().unload_layer(engine, layer);
  if (status == GDN_OK) {
    bound.with(engine, [layer](std::map<int64_t, Keys>& layers) { return layers.erase(layer); });
  }
  return status;
}

void close(gdn_engine* engine) {
  bound.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "half_of_a_failed_binding_stays";
  table.bind_q4 = bind_q4;
  table.unload_layer = unload_layer;
  table.close = close;
  return table;
}();
const MutantRegistrar self{{.name = "half_of_a_failed_binding_stays",
                            .bug = "a binding that fails at an absent key keeps the keys before it",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
