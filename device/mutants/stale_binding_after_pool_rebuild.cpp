// Bug: after the pool was rebuilt a step finds the layer's old keys again, and with them whatever
// tensor of equal shape now stands under them.
#include <map>
#include <mutex>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

struct Keys {
  uint64_t qkv, z, out;
};

// The mutant's memory of what each handle has bound; handles may live in different threads.
std::mutex lock;
std::map<const gdn_engine*, std::map<int64_t, Keys>> remembered;

gdn_status bind_q4(gdn_engine* engine, int64_t layer, uint64_t qkv, uint64_t z, uint64_t out) {
  const gdn_status status = right_twin().bind_q4(engine, layer, qkv, z, out);
  if (status == GDN_OK) {
    const std::lock_guard<std::mutex> guard(lock);
    remembered[engine][layer] = {qkv, z, out};
  }
  return status;
}

gdn_status unload_layer(gdn_engine* engine, int64_t layer) {
  const gdn_status status = right_twin().unload_layer(engine, layer);
  if (status == GDN_OK) {
    const std::lock_guard<std::mutex> guard(lock);
    remembered[engine].erase(layer);
  }
  return status;
}

void close(gdn_engine* engine) {
  {
    const std::lock_guard<std::mutex> guard(lock);
    remembered.erase(engine);
  }
  right_twin().close(engine);
}

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_NOT_LOADED) return status;
  Keys keys;
  {
    const std::lock_guard<std::mutex> guard(lock);
    const auto of_engine = remembered.find(engine);
    if (of_engine == remembered.end()) return status;
    const auto of_layer = of_engine->second.find(layer);
    if (of_layer == of_engine->second.end()) return status;
    keys = of_layer->second;
  }
  const gdn_status bound = right_twin().bind_q4(engine, layer, keys.qkv, keys.z, keys.out);
  return bound == GDN_OK ? right_twin().step(engine, layer, h, out) : status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "stale_binding_after_pool_rebuild";
  table.bind_q4 = bind_q4;
  table.unload_layer = unload_layer;
  table.close = close;
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "stale_binding_after_pool_rebuild",
                            .bug = "a step after a pool rebuild binds the layer's old keys again",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
