// Bug: what a snapshot needs beside its state is never released.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  const Gate gate = gate_of(engine);
  constexpr uint64_t bytes = 32;
  if (status == GDN_OK && gate.ask != nullptr) gate.ask(gate.context, bytes, 0);
  return status;
}

const gdn_api api = [] {
  gdn_api table = twin_remembering_gates("snapshots_leak");
  table.snapshot = snapshot;
  return table;
}();
const MutantRegistrar self{{.name = "snapshots_leak",
                            .bug = "memory of a snapshot is never released",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
