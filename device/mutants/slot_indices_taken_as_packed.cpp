// Bug: slot indices are taken to lie one behind the other, whatever their stride.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  other.slots.stride[0] = 1;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("slot_indices_taken_as_packed");
const MutantRegistrar self{{.name = "slot_indices_taken_as_packed",
                            .bug = "slot indices are taken to lie one behind the other",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
