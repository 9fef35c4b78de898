// Bug: run fills the conv history from its own tokens alone, and with zeros where they are fewer
// than the window.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  const gdn_status status = right_twin().run(engine, layer, T, h, out);
  if (status != GDN_OK || T < 1) return status;
  std::vector<uint8_t> state = exported(engine, layer);
  const int64_t conv_dim = count_of(engine, GDN_CONV);
  const int64_t rows = count_of(engine, GDN_HIST) / conv_dim;
  if (T >= rows) return status;
  const auto history_bytes = static_cast<size_t>(rows * conv_dim) * sizeof(float);
  const auto older_bytes = static_cast<size_t>((rows - T) * conv_dim) * sizeof(float);
  std::memset(state.data() + state.size() - history_bytes, 0, older_bytes);
  right_twin().state_import(engine, layer, state.data(), state.size());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "short_call_zeroes_older_history";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "short_call_zeroes_older_history",
                            .bug = "a run of fewer tokens than the conv window zeroes the rest",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
