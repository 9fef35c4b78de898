// Bug: the conv takes the token in before the step is refused for a null out.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_status status = right_twin().step(engine, layer, h, out);
  if (status != GDN_INVALID_ARGUMENT) return status;
  std::vector<uint8_t> state = exported(engine, layer);
  const auto bytes = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const auto row_bytes = static_cast<size_t>(count_of(engine, GDN_QKV)) * sizeof(float);
  if (state.empty() || bytes == 0) return right_twin().step(engine, layer, h, out);
  uint8_t* const history = state.data() + state.size() - bytes;
  std::memmove(history, history + row_bytes, bytes - row_bytes);
  std::memset(history + bytes - row_bytes, 0, row_bytes);
  right_twin().state_import(engine, layer, state.data(), state.size());
  return right_twin().step(engine, layer, h, out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "refused_step_advances_history";
  table.step = step;
  return table;
}();
const MutantRegistrar self{
    {.name = "refused_step_advances_history",
     .bug = "a step that is refused for a null pointer has moved the history on",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
