// Bug: the recurrence takes every state for [kd][vd], whatever layout its caller names.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr) return right_twin().recurrent(engine, args);
  gdn_recurrent_args other = *args;
  other.state_is_vk = 0;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "state_layout_ignored";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "state_layout_ignored",
                            .bug = "the recurrence ignores the layout of the state",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
