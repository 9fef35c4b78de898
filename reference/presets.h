// The presets of dialects as data: what each public family chose in every dimension, and the fact
// that the choice stands on, as read in public sources of mid-2026.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gdn {

// How a fact is known.
enum class Basis : uint8_t {
  own,      // this project's definition
  read,     // in the project's source
  derived,  // follows from what was read
  told,     // by others, in documents or copies of a configuration
  assumed,  // not verified
};
std::string_view name_of(Basis basis);

// The value that a preset has in one dimension, both spelled as in reference/dialect.h.
struct PresetFact {
  std::string_view dimension, value;
  Basis basis;
  std::string_view where;  // project and entry point
  std::string_view fact;   // one sentence
};

struct Preset {
  std::string_view name;
  std::string_view models;            // the entry point that it models
  std::span<const PresetFact> facts;  // one a dimension, in the order of dialect_dimensions()
};

// In the order of dialect_names().
std::span<const Preset> presets();

// Those of engines written for PyTorch, and of engines with a runtime of their own.
std::span<const Preset> torch_presets();
std::span<const Preset> runtime_presets();

}  // namespace gdn
