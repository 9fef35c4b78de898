// Bug: a buffer's release is told to the gate twice.
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

gdn_status buffer_release(gdn_engine* engine, gdn_buffer buffer) {
  const gdn_status status = right_twin().buffer_release(engine, buffer);
  const Gate gate = gates.with(engine, [](const Gate& of_engine) { return of_engine; });
  constexpr uint64_t bytes = 1;
  if (status == GDN_OK && gate.ask != nullptr) gate.ask(gate.context, bytes, 1);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "release_told_twice";
  table.open = open;
  table.close = close;
  table.buffer_release = buffer_release;
  return table;
}();
const MutantRegistrar self{{.name = "release_told_twice",
                            .bug = "the release of a buffer is told to the gate twice",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
