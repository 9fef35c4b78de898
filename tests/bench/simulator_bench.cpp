// The cost of simulating: a float32 matrix by a vector with and without checks, a block reduction
// with its shuffles and barrier, and threads that only start and end.
#include <benchmark/benchmark.h>

#include <vector>

#include "tests/platform_kernels.cuh"

namespace gdn {
namespace {

struct Problem {
  Problem(bool checks, int64_t rows, int64_t cols) : machine({.checks = checks}) {
    w = array(rows * cols);
    x = array(cols);
    y = array(rows);
  }
  float* array(int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(float);
    auto* const at = static_cast<float*>(machine.allocate(bytes));
    if (machine.fill(at, 0x3f800000U, bytes)) return nullptr;  // ones
    return at;
  }
  simt::Machine machine;
  float* w;
  float* x;
  float* y;
};

void report(benchmark::State& state, int64_t per_iteration, bool faulty) {
  if (faulty) state.SkipWithError("the kernel is faulty");
  state.SetItemsProcessed(state.iterations() * per_iteration);
}

void multiply_adds(benchmark::State& state) {
  const bool checks = state.range(0) != 0;
  constexpr int rows = 512, cols = 5120;
  Problem problem(checks, rows, cols);
  const MatrixVector params{{problem.w}, {problem.x}, {problem.y}, rows, cols};
  bool faulty = false;
  for (auto _ : state) {
    faulty |= launch<matrix_vector>(problem.machine, {.blocks = rows / 4, .threads = 128}, params)
                  .has_value();
  }
  report(state, int64_t{rows} * cols, faulty);
}
BENCHMARK(multiply_adds)->ArgName("checks")->Arg(0)->Arg(1);

void reductions_of_128_threads(benchmark::State& state) {
  const bool checks = state.range(0) != 0;
  constexpr int rows = 256, cols = 128;
  Problem problem(checks, rows, cols);
  const RowSums params{{problem.w}, {problem.y}, cols};
  bool faulty = false;
  for (auto _ : state) {
    faulty |=
        launch<row_sums>(problem.machine, {.blocks = rows, .threads = 128}, params).has_value();
  }
  report(state, rows, faulty);
}
BENCHMARK(reductions_of_128_threads)->ArgName("checks")->Arg(0)->Arg(1);

struct Nothing {};
void does_nothing(const Nothing&) {}

void threads_started(benchmark::State& state) {
  simt::Machine machine;
  constexpr int blocks = 64, threads = 128;
  bool faulty = false;
  for (auto _ : state) {
    faulty |= launch<does_nothing>(machine, {.blocks = blocks, .threads = threads}, {}).has_value();
  }
  report(state, blocks * threads, faulty);
}
BENCHMARK(threads_started);

}  // namespace
}  // namespace gdn

BENCHMARK_MAIN();
