// Bug: rollback restores the conv history and forgets the recurrent state.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  if (engine == nullptr) return right_twin().rollback(engine, id);
  const auto before = exported_layers(engine);
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_OK) return status;
  for (size_t layer = 0; layer < before.size(); ++layer) {
    restore_state(engine, static_cast<int64_t>(layer), before[layer]);
  }
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "rollback_keeps_state";
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{{.name = "rollback_keeps_state",
                            .bug = "rollback restores the history and keeps S",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
