// All presets in one row, and how facts are known.
#include "reference/presets.h"

#include <vector>

namespace gdn {

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::own:
      return "own";
    case Basis::read:
      return "read";
    case Basis::derived:
      return "derived";
    case Basis::told:
      return "told";
    case Basis::assumed:
      return "assumed";
  }
  return "";
}

std::span<const Preset> presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> made(torch_presets().begin(), torch_presets().end());
    made.insert(made.end(), runtime_presets().begin(), runtime_presets().end());
    return made;
  }();
  return all;
}

}  // namespace gdn
