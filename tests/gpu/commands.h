// The parts of a GPU run, each a sub-command of gpu_check. Every one of them also runs on the
// simulator, with --engine simt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "reference/shape.h"
#include "tests/gpu/findings.h"

namespace gdn::gpu {

struct Options {
  std::string engine = "cuda";
  std::string against = "simt";    // what its bits must be equal to
  std::vector<std::string> paths;  // a capture, or the findings of other parts
  int64_t cases = 240;             // to draw
  uint64_t seed = 1;
  int64_t threads = 1;  // of this program; each has engines of its own
  int64_t layers = 48;
  int64_t tokens = 3;
  bool whole_shape = false;      // that of Qwen3.5-27B, in place of small ones
  bool independent = false;      // rows of the stack's weights have nothing in common
  std::string commit, markdown;  // of the report
};

// The layer of Qwen3.5-27B, and a small one of the same proportions for the simulator.
Shape qwen_shape(int64_t layers);
Shape small_shape(int64_t layers);

// Random cases, every observation: equal bits on both engines.
Findings check_same_bits(const Options& options);
// Each kernel in every size of block that it takes: equal bits, on both.
Findings check_launches(const Options& options);
// T steps, run(T), forward, reset, equal layers: equal bits; and a digest for another process.
Findings check_replays(const Options& options);
// OUT of a capture's layer against the exact values: engine, twin, and the capture itself.
Findings measure_accuracy(const Options& options);
// What 4-bit weights and q8_0 activations cost, operator by operator, apart from rounding.
Findings measure_formats(const Options& options);
// How both grow through a stack of layers.
Findings measure_stack(const Options& options);
// Row sums on the GPU, which the checker uses, against the CPU's.
Findings check_row_sums(const Options& options);
// One report of the findings of all parts: JSON, and Markdown for the documentation.
int write_report(const Options& options, const std::string& json);

// An engine by its name; ends the program with a message where there is none.
EngineSource engine_or_exit(const std::string& name);

}  // namespace gdn::gpu
