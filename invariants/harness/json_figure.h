// A figure in JSON, which has no infinity and no NaN: they are spelled as text.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace gdn {

inline nlohmann::ordered_json json_figure(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace gdn
