// The engines and mutants that are built in. Each registers itself from its own file by a static
// registrar, and device/gdn.h enumerates them by name.
#pragma once

#include "device/gdn.h"

namespace gdn {

struct EngineRegistrar {
  explicit EngineRegistrar(const gdn_api& api);  // api lives for ever
};

struct MutantRegistrar {
  explicit MutantRegistrar(const gdn_mutant& mutant);
};

}  // namespace gdn
