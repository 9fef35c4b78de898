// Built-in engines that can be had in several ways: gdn_builtin_with of device/gdn.h.
#pragma once

#include <string>
#include <string_view>

#include "device/gdn.h"

namespace gdn {

// The table of an engine for a setting as text, the same for the same text; null and *why where it
// is none.
using Configure = const gdn_api* (*)(std::string_view setting, std::string* why);

struct SettingsRegistrar {
  SettingsRegistrar(const char* engine, Configure configure);
};

}  // namespace gdn
