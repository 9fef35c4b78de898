// Bug: reset forgets the conv history and keeps the recurrent state.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "reset_keeps_state";
  table.reset = reset_but<restore_state>;
  return table;
}();
const MutantRegistrar self{{.name = "reset_keeps_state",
                            .bug = "reset zeroes the conv history and keeps S",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
