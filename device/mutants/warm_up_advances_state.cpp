// Bug: a handle's first step is run once to warm up and once for its result, both on the live
// state.
#include <mutex>
#include <set>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

std::mutex lock;
std::set<const gdn_engine*> warm;

void close(gdn_engine* engine) {
  {
    const std::lock_guard<std::mutex> guard(lock);
    warm.erase(engine);
  }
  right_twin().close(engine);
}

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_OK) return status;
  {
    const std::lock_guard<std::mutex> guard(lock);
    if (!warm.insert(engine).second) return status;
  }
  return right_twin().step(engine, layer, h, out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "warm_up_advances_state";
  table.close = close;
  table.step = step;
  return table;
}();
const MutantRegistrar self{{.name = "warm_up_advances_state",
                            .bug = "the first step of a handle advances the state twice",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
