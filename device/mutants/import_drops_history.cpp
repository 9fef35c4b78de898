// Bug: state_import takes the recurrent state and leaves the conv history as it was.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status state_import(gdn_engine* engine, int64_t layer, const void* src, uint64_t size_bytes) {
  const std::vector<uint8_t> before =
      engine == nullptr ? std::vector<uint8_t>{} : exported(engine, layer);
  const gdn_status status = right_twin().state_import(engine, layer, src, size_bytes);
  if (status == GDN_OK) restore_history(engine, layer, before);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "import_drops_history";
  table.state_import = state_import;
  return table;
}();
const MutantRegistrar self{{.name = "import_drops_history",
                            .bug = "import restores S and keeps the history that was there",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
