// What a library with one edited source exports: the engine on the simulator, with or without its
// checks of accesses.
#include "device/engines/simt.h"
#include "device/host/api.h"

namespace {

constexpr char name[] = "edited";

}  // namespace

extern "C" const gdn_api* gdn_engine_api(void) {
#ifdef GDN_EDITED_IS_CHECKED
  return &gdn::host::host_engine<name, gdn::host::make_simt_checked>();
#else
  return &gdn::host::host_engine<name, gdn::host::make_simt>();
#endif
}
