// Bug: a buffer's release is told to the gate twice.
#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

gdn_status buffer_release(gdn_engine* engine, gdn_buffer buffer) {
  const gdn_status status = right_twin().buffer_release(engine, buffer);
  const Gate gate = gate_of(engine);
  constexpr uint64_t bytes = 1;
  if (status == GDN_OK && gate.ask != nullptr) gate.ask(gate.context, bytes, 1);
  return status;
}

const gdn_api api = [] {
  gdn_api table = twin_remembering_gates("release_told_twice");
  table.buffer_release = buffer_release;
  return table;
}();
const MutantRegistrar self{{.name = "release_told_twice",
                            .bug = "the release of a buffer is told to the gate twice",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
