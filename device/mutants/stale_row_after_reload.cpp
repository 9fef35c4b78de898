// Bug: the state that a layer gets when it is loaded a second time is zeroed from its second row
// on; the first holds what the memory held.
#include <map>
#include <mutex>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

struct Memory {
  bool is_filled;
  uint32_t pattern;
  std::map<int64_t, int> loads;  // of each layer
};
std::mutex lock;
std::map<const gdn_engine*, Memory> memories;

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  const gdn_status status = right_twin().open(shape, options, engine);
  if (status != GDN_OK) return status;
  const std::lock_guard<std::mutex> guard(lock);
  memories[*engine] = {options->fill != 0, options->fill_pattern, {}};
  return status;
}

void close(gdn_engine* engine) {
  {
    const std::lock_guard<std::mutex> guard(lock);
    memories.erase(engine);
  }
  right_twin().close(engine);
}

gdn_status load_layer_f32(gdn_engine* engine, int64_t layer, const gdn_layer_weights* weights) {
  const gdn_status status = right_twin().load_layer_f32(engine, layer, weights);
  if (status != GDN_OK) return status;
  const std::lock_guard<std::mutex> guard(lock);
  Memory& memory = memories[engine];
  // What memory holds where nobody fills it is not for a fault to choose.
  if (++memory.loads[layer] < 2 || !memory.is_filled) return status;
  std::vector<uint8_t> state = exported(engine, layer);
  const auto row = static_cast<size_t>(count_of(engine, GDN_V) / count_of(engine, GDN_BETA));
  const auto after = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t bytes = static_cast<size_t>(count_of(engine, GDN_S)) * sizeof(float);
  const std::vector<uint32_t> stale(row, memory.pattern);
  std::memcpy(state.data() + state.size() - after - bytes, stale.data(), row * sizeof(float));
  right_twin().state_import(engine, layer, state.data(), state.size());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "stale_row_after_reload";
  table.open = open;
  table.close = close;
  table.load_layer_f32 = load_layer_f32;
  return table;
}();
const MutantRegistrar self{{.name = "stale_row_after_reload",
                            .bug = "a reloaded layer's state starts with a row that nobody wrote",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
