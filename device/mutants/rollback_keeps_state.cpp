// Bug: rollback restores the conv history and forgets the recurrent state.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "rollback_keeps_state";
  table.rollback = rollback_but<restore_state>;
  return table;
}();
const MutantRegistrar self{{.name = "rollback_keeps_state",
                            .bug = "rollback restores the history and keeps S",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
