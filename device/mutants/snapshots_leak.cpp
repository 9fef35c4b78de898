// Bug: what a snapshot needs beside its state is never released.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<Gate> gates;

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  const gdn_status status = right_twin().open(shape, options, engine);
  if (status != GDN_OK) return status;
  gates.with(*engine, [options](Gate& gate) {
    gate = {options->allocation_gate, options->allocation_context};
    return 0;
  });
  return status;
}

void close(gdn_engine* engine) {
  gates.forget(engine);
  right_twin().close(engine);
}

gdn_status snapshot(gdn_engine* engine, int64_t layer_or_all, uint64_t* id) {
  const gdn_status status = right_twin().snapshot(engine, layer_or_all, id);
  const Gate gate = gates.with(engine, [](const Gate& of_engine) { return of_engine; });
  constexpr uint64_t bytes = 32;
  if (status == GDN_OK && gate.ask != nullptr) gate.ask(gate.context, bytes, 0);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "snapshots_leak";
  table.open = open;
  table.close = close;
  table.snapshot = snapshot;
  return table;
}();
const MutantRegistrar self{{.name = "snapshots_leak",
                            .bug = "memory of a snapshot is never released",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
