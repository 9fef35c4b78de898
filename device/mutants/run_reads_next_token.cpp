// Bug: in a run the first channel of a token comes from the token after it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  if (engine == nullptr || T < 2 || h == nullptr || out == nullptr) {
    return right_twin().run(engine, layer, T, h, out);
  }
  const int64_t hidden = count_of(engine, GDN_OUT);
  std::vector<float> mixed(h, h + T * hidden);
  for (int64_t t = 0; t + 1 < T; ++t) {
    mixed[static_cast<size_t>(t * hidden)] = h[(t + 1) * hidden];
  }
  return right_twin().run(engine, layer, T, mixed.data(), out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "run_reads_next_token";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "run_reads_next_token",
                            .bug = "run mixes a token with the next one",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
