// Bug: an import of the right size is taken without a look at its header.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status state_import(gdn_engine* engine, int64_t layer, const void* src, uint64_t size_bytes) {
  const gdn_status status = right_twin().state_import(engine, layer, src, size_bytes);
  std::vector<uint8_t> own = exported(engine, layer);
  if (status != GDN_INVALID_ARGUMENT || src == nullptr || own.size() != size_bytes) {
    return right_twin().state_import(engine, layer, src, size_bytes);
  }
  constexpr size_t header_bytes = 56;
  std::memcpy(own.data() + header_bytes, static_cast<const uint8_t*>(src) + header_bytes,
              own.size() - header_bytes);
  return right_twin().state_import(engine, layer, own.data(), own.size());
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "import_ignores_header";
  table.state_import = state_import;
  return table;
}();
const MutantRegistrar self{
    {.name = "import_ignores_header",
     .bug = "an imported state of the right size is taken whatever its header says",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
