// Counted ratios in reports: what `compare` reads. docs/report.md documents it.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "invariants/harness/ratio_counts.h"

namespace gdn {

inline nlohmann::ordered_json json_of(const RatioCounts& ratios) {
  nlohmann::ordered_json powers = nlohmann::ordered_json::object();
  for (const auto& [exponent, samples] : ratios.powers_of_two) {
    powers[fmt::format("{}", exponent)] = samples;
  }
  return {{"zero", ratios.zero}, {"powers_of_two", powers}, {"infinite", ratios.infinite}};
}

}  // namespace gdn
