// What readers of the files of stages have in common, and those of speed, search and coverage.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ci/escaped.h"
#include "ci/night/night.h"

namespace gdn {

// Each throws what is wrong. The library would make 1 of 1.5, and a huge number of -1.
size_t whole_of(const char* key, const nlohmann::json& value);
size_t count_of(const nlohmann::json& object, const char* key);
// What is no number is infinite.
double figure_of(const nlohmann::json& value);

std::vector<std::vector<std::string>> rows_of(const std::string& text, char separator = '\t');

template <class T>
T whole_number(const char* what, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return value;
  throw std::runtime_error(
      fmt::format("{}: expected a whole number from 0, got '{}'", what, visible(text)));
}

// That something was asked is a record of its own: else nobody could tell that what it had found in
// an earlier night is gone.
NightInvariant& asked_of(const std::string& engine, const std::string& invariant, Night& night);

void read_benchmark(const std::string& text, const std::string& machine, Night& night);
void read_gpu(const std::string& text, Night& night);
// `pieces` of a fuzz target, whose folder has what it found.
void read_target(const std::filesystem::path& target, const std::string& pieces, Night& night);
void read_coverage(const std::string& text, Night& night);

}  // namespace gdn
