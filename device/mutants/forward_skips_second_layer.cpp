// Bug: forward hands what the first layer gives to the third.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status forward(gdn_engine* engine, int64_t T, const float* h, float* out) {
  // Refusals are the right one's.
  if (engine == nullptr || T < 1 || h == nullptr || out == nullptr) {
    return right_twin().forward(engine, T, h, out);
  }
  const gdn_status ready = right_twin().forward(engine, 0, nullptr, nullptr);
  if (ready != GDN_OK) return ready;
  const auto layers = static_cast<int64_t>(exported_layers(engine).size());
  std::vector<float> hidden(h, h + T * count_of(engine, GDN_OUT));
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (layer == 1) continue;
    const gdn_status status = right_twin().run(engine, layer, T, hidden.data(), out);
    if (status != GDN_OK) return status;
    hidden.assign(out, out + hidden.size());
  }
  return GDN_OK;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "forward_skips_second_layer";
  table.forward = forward;
  return table;
}();
const MutantRegistrar self{{.name = "forward_skips_second_layer",
                            .bug = "forward leaves the second layer out",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
