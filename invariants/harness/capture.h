// Captures of public implementations as plain values: a whole layer, the recurrence alone, or a
// 4-bit quantiser. corpus/oracle/README.md says what stands in each format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "invariants/harness/safetensors.h"
#include "reference/dialect.h"
#include "reference/layer.h"
#include "reference/shape.h"

namespace gdn {

// The state of one v-head, [kd][vd]: a capture of a large shape holds two of them only.
struct CapturedHead {
  int64_t head = 0;
  std::vector<float> values;
};

// gdn-oracle-1.
struct LayerCapture {
  LayerInputs inputs;
  std::vector<TokenTensors> seen;  // QKV Z B A CONV BETA G O ONORM OUT of each token
  std::vector<CapturedHead> final_state;
  // What the matrices of inputs.weights point into. Moving a capture keeps them valid, so that a
  // copy, which would not, is forbidden.
  std::map<std::string, std::vector<float>> matrices;

  LayerCapture() = default;
  LayerCapture(LayerCapture&&) = default;
  LayerCapture& operator=(LayerCapture&&) = default;
  LayerCapture(const LayerCapture&) = delete;
  LayerCapture& operator=(const LayerCapture&) = delete;
};

// gdn-trace-1. Arrays are row-major as in the file; those of one token lie together.
struct TraceCapture {
  Shape shape;             // hidden_size and conv_kernel mean nothing here and are 1
  Dialect dialect;         // from the metadata
  bool is_triton = false;  // its source says that it is a Triton kernel
  int64_t tokens = 0;
  std::vector<float> q, k;                        // [T][kh][kd]
  std::vector<float> v;                           // [T][vh][vd]
  std::vector<float> g, gk;                       // [T][vh], [T][vh][kd]; empty where absent
  std::vector<float> beta;                        // [T][vh]
  std::vector<float> initial_state, final_state;  // [vh][kd][vd], or [vh][vd][kd] by the layout
  std::vector<float> o;                           // [T][vh][vd]
  std::vector<float> snapshots;  // [count] states, newest first; empty where there is one only
};

// q4-oracle-1.
struct Q4Capture {
  int64_t rows = 0, cols = 0;
  std::vector<float> weights;  // [rows][cols]
  std::vector<uint8_t> blocks;
  std::vector<float> decoded;  // [rows][cols]
};

struct Capture {
  std::string path;
  std::string format;  // "gdn-oracle-1"
  std::string source;  // who made it, in the file's words
  std::variant<LayerCapture, TraceCapture, Q4Capture> content;
};

// Nothing on failure, and in `why` one line: file, what is wrong, what was expected.
std::optional<Capture> read_capture(const std::string& path, std::string* why);
std::optional<Capture> read_capture(const Safetensors& file, std::string* why);

// A state in either layout as [vh][kd][vd].
std::vector<float> canonical_state(std::span<const float> stored, const Shape& shape,
                                   Dialect::StateLayout layout);

}  // namespace gdn
