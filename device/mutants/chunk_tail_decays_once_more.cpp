// Bug: the last chunk of a long run is shorter than the others, and its final state is taken at the
// end of a padded chunk, whose slots repeat the last gate: the state decays once too often.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

constexpr int64_t chunk_tokens = 64;

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  const gdn_status status = right_twin().run(engine, layer, T, h, out);
  if (status != GDN_OK || T < chunk_tokens || T % chunk_tokens == 0) return status;
  std::vector<float> gates(static_cast<size_t>(count_of(engine, GDN_G)));
  std::vector<float> S(static_cast<size_t>(count_of(engine, GDN_S)));
  const auto room = [](const std::vector<float>& to) { return static_cast<int64_t>(to.size()); };
  // Without observe there are no gates to read: it is then a right engine.
  if (right_twin().read(engine, layer, GDN_G, gates.data(), room(gates), nullptr) != GDN_OK) {
    return status;
  }
  right_twin().read(engine, layer, GDN_S, S.data(), room(S), nullptr);
  for (size_t i = 0; i < S.size(); ++i) S[i] *= std::exp(gates[i / (S.size() / gates.size())]);
  std::vector<uint8_t> state = exported(engine, layer);
  const auto after = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t bytes = S.size() * sizeof(float);
  std::memcpy(state.data() + state.size() - after - bytes, S.data(), bytes);
  right_twin().state_import(engine, layer, state.data(), state.size());
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "chunk_tail_decays_once_more";
  table.run = run;
  return table;
}();
const MutantRegistrar self{
    {.name = "chunk_tail_decays_once_more",
     .bug = "the state after a run with a partial last chunk decays by the last gate again",
     .op = "delta_rule",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
