// Counted ratios in reports: what `compare` reads. docs/report.md documents it.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "invariants/harness/ratio_counts.h"

namespace gdn {

inline nlohmann::ordered_json json_of(const RatioCounts& ratios) {
  nlohmann::ordered_json powers = nlohmann::ordered_json::object();
  for (const auto& [exponent, samples] : ratios.powers_of_two) {
    powers[fmt::format("{}", exponent)] = samples;
  }
  return {{"zero", ratios.zero}, {"powers_of_two", powers}, {"infinite", ratios.infinite}};
}

// The reverse. Both throw std::runtime_error, or what nlohmann throws, of what is none.
inline size_t sample_count_of(const nlohmann::json& value) {
  // More samples than this no run has, and sums of them stay exact.
  constexpr size_t samples_max = size_t{1} << 40;
  if (!value.is_number_unsigned() || value.get<size_t>() > samples_max) {
    throw std::runtime_error(fmt::format("a count was expected, got {}", value.dump()));
  }
  return value.get<size_t>();
}

inline RatioCounts ratios_of(const nlohmann::json& value) {
  RatioCounts ratios;
  ratios.zero = sample_count_of(value.at("zero"));
  ratios.infinite = sample_count_of(value.at("infinite"));
  for (const auto& [name, samples] : value.at("powers_of_two").items()) {
    int exponent = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, exponent);
    const bool in_range =
        exponent >= RatioCounts::exponent_min && exponent <= RatioCounts::exponent_max;
    if (read.ec != std::errc() || read.ptr != end || !in_range) {
      throw std::runtime_error(fmt::format("powers_of_two: '{}' is no exponent from {} to {}", name,
                                           RatioCounts::exponent_min, RatioCounts::exponent_max));
    }
    ratios.powers_of_two[exponent] = sample_count_of(samples);
  }
  return ratios;
}

}  // namespace gdn
