// Tokens through a stack of layers with 4-bit weights on an engine, and every tensor of every token
// and layer judged locally, beside the engine while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/verdict.h"
#include "reference/gpu/row_sums.h"
#include "reference/shape.h"
#include "reference/tensor.h"

namespace gdn {

struct StackRun {
  Shape shape;  // its num_layers are the stack
  int64_t tokens = 64;
  uint64_t seed = 1;
  int64_t threads = 1;         // that judge, beside the one that drives the engine
  GpuRowSums* sums = nullptr;  // null: the CPU's
};

// One tensor over all tokens and layers.
struct StackRow {
  Tensor tensor = Tensor::QKV;
  Verdict verdict;               // worst_index is an index into the tensor
  int64_t layer = 0, token = 0;  // of the worst
};

// Wall clock, for people: nothing is decided by it.
struct StackSeconds {
  double weights = 0;  // made
  double loading = 0;  // given to the engine, and to the GPU that sums up rows
  double engine = 0;   // its steps and what was read back
  double judging = 0;  // from the first step to the last verdict
  double threads = 0;  // of all threads that judge, together
};

struct StackReport {
  std::vector<StackRow> rows;
  Verdict conduct;             // of the engine: statuses, and what it must not touch
  Verdict verdict;             // of all
  std::string first_failure;   // by token, then layer, then operator; empty where nothing fails
  int64_t token_layers = 0;    // judged
  int64_t failing = 0;         // of those
  int64_t rows_elsewhere = 0;  // of matrices, summed up by `sums`
  int64_t rows_again = 0;      // of those, what was then summed up by the CPU
  StackSeconds seconds;
};

// h of a layer is OUT of the one before. A token and layer is judged from S and HIST as they were
// read after the token before; of the first they are zero. What is judged does not depend on the
// number of threads. Throws GpuFailure.
StackReport judge_stack_run(const StackRun& run, const EngineSource& engine,
                            const std::function<void(int64_t judged)>& progress);

}  // namespace gdn
