// Bug: a rollback zeroes the state before it looks for the snapshot.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status rollback(gdn_engine* engine, uint64_t id) {
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_NOT_FOUND) return status;
  right_twin().reset(engine, GDN_ALL_LAYERS);
  return right_twin().rollback(engine, id);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "rollback_to_nothing_zeroes";
  table.rollback = rollback;
  return table;
}();
const MutantRegistrar self{{.name = "rollback_to_nothing_zeroes",
                            .bug = "a rollback that is refused has zeroed the states",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
