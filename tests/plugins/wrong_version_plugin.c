/* A plugin of another ABI version, which a loader must refuse before it calls anything. */
#include "device/gdn.h"

const gdn_api* gdn_engine_api(void);

const gdn_api* gdn_engine_api(void) {
  static const gdn_api api = {
      .abi_version = GDN_ABI_VERSION + 1, .struct_size = sizeof(gdn_api), .name = "wrong_version"};
  return &api;
}
