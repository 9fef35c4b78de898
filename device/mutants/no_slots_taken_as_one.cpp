// Bug: the recurrence takes a pool of no slots for one of one slot.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr) return right_twin().recurrent(engine, args);
  gdn_recurrent_args other = *args;
  if (other.num_slots == 0) other.num_slots = 1;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "no_slots_taken_as_one";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "no_slots_taken_as_one",
                            .bug = "a pool of no slots is taken for one of one slot",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
