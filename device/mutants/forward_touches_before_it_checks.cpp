// Bug: forward runs the layers above the one that it then finds unloaded.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status forward(gdn_engine* engine, int64_t T, const float* h, float* out) {
  const gdn_status status = right_twin().forward(engine, T, h, out);
  if (status != GDN_NOT_LOADED || T == 0) return status;
  std::vector<float> hidden(static_cast<size_t>(count_of(engine, GDN_OUT)));
  std::memcpy(hidden.data(), h, hidden.size() * sizeof(float));
  for (int64_t layer = 0;; ++layer) {
    if (right_twin().step(engine, layer, hidden.data(), hidden.data()) != GDN_OK) break;
  }
  return right_twin().forward(engine, T, h, out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "forward_touches_before_it_checks";
  table.forward = forward;
  return table;
}();
const MutantRegistrar self{
    {.name = "forward_touches_before_it_checks",
     .bug = "forward runs layers before it finds that a later one has no weights",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
