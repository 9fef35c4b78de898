// What a call came to, with its reason in words. Inside the engine a refusal is thrown; the ABI's
// wrapper turns it into the status and the text that the caller sees.
#pragma once

#include "device/gdn.h"

namespace gdn::host {

struct Status {
  gdn_status code = GDN_OK;
  char text[232] = "";

  bool ok() const { return code == GDN_OK; }
};

Status failure(gdn_status code, const char* format, ...) __attribute__((format(printf, 2, 3)));

struct Failed {
  Status status;
};

[[noreturn]] void refuse(gdn_status code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
inline void must(const Status& status) {
  if (!status.ok()) throw Failed{status};
}

}  // namespace gdn::host
