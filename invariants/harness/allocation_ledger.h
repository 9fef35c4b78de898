// A gate over an engine's allocations: counts them, refuses the n-th, and keeps the balance.
#pragma once

#include <cstdint>

#include "device/gdn.h"

namespace gdn {

struct AllocationLedger {
  uint64_t asked = 0;       // allocations asked for
  uint64_t refuse_at = 0;   // the one to refuse, counted from 1; 0: none
  uint64_t bytes_held = 0;  // granted and not released
  uint64_t held = 0;
  bool overdrawn = false;  // a release of more than is held

  void attach(gdn_options& options) {
    options.allocation_gate = gate;
    options.allocation_context = this;
  }
  // From here on, refuse the n-th.
  void arm(uint64_t n) {
    asked = 0;
    refuse_at = n;
  }

 private:
  static int gate(void* context, uint64_t bytes, int release) {
    auto& ledger = *static_cast<AllocationLedger*>(context);
    if (release != 0) {
      if (ledger.held == 0 || ledger.bytes_held < bytes) {
        ledger.overdrawn = true;
        return 0;
      }
      --ledger.held;
      ledger.bytes_held -= bytes;
      return 0;
    }
    if (++ledger.asked == ledger.refuse_at) return 1;
    ++ledger.held;
    ledger.bytes_held += bytes;
    return 0;
  }
};

}  // namespace gdn
