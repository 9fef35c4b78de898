// Bug: reset zeroes the recurrent state and forgets the conv history.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "reset_keeps_history";
  table.reset = reset_but<restore_history>;
  return table;
}();
const MutantRegistrar self{{.name = "reset_keeps_history",
                            .bug = "reset zeroes S and keeps the conv history",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
