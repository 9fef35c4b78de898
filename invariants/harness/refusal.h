// What counts as a refusal: an engine that breaks on a call has not refused it.
#pragma once

#include "device/gdn.h"

namespace gdn {

// The statuses of device/gdn.h that say what is wrong with a call. Those behind them say that the
// engine cannot run, is lost or is at fault itself.
constexpr bool is_refusal(gdn_status status) {
  return status >= GDN_INVALID_ARGUMENT && status <= GDN_NO_TOKEN;
}

}  // namespace gdn
