// Bug: rollback restores the recurrent state and forgets the conv history.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "rollback_keeps_history";
  table.rollback = rollback_but<restore_history>;
  return table;
}();
const MutantRegistrar self{{.name = "rollback_keeps_history",
                            .bug = "rollback restores S and keeps the conv history",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
