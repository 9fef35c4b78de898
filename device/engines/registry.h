// The engines and mutants that are built in. Each registers itself from its own file by a static
// registrar, and device/gdn.h enumerates them by name.
#pragma once

#include <string>
#include <string_view>

#include "device/gdn.h"

namespace gdn {

// The table of an engine for a setting as text, `v_step=32,depth=2`; null and *why where it is
// none.
using Configure = const gdn_api* (*)(std::string_view setting, std::string* why);

struct EngineRegistrar {
  // api lives for ever; null: the engine has no settings.
  explicit EngineRegistrar(const gdn_api& api, Configure configure = nullptr);
};

struct MutantRegistrar {
  explicit MutantRegistrar(const gdn_mutant& mutant);
};

}  // namespace gdn
