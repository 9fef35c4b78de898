// One token of one layer of the Qwen3.5-27B shape judged: what each tensor must be from what the
// engine itself held (the local check), its bound, and the verdicts. By the order of the sums that
// the contract declares; weights and the engine's own run are made before the clock starts.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/generated_weights.h"
#include "invariants/harness/judge.h"
#include "invariants/harness/lab.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

constexpr WeightRule rule{.base = 27, .scale = 0x1p-6};

std::vector<float> numbers(uint64_t tensor_number, int64_t count) {
  std::vector<float> made(static_cast<size_t>(count));
  generate_weights(rule, tensor_number, made);
  return made;
}

// The layer, its weights, and what the twin gave for its tokens.
struct Layer {
  Layer() {
    Shape& s = inputs.shape;
    s.hidden_size = 5120;
    s.num_k_heads = 16, s.head_k_dim = 128;
    s.num_v_heads = 48, s.head_v_dim = 128;
    s.conv_kernel = 4;
    matrices.reserve(5);
    LayerWeights& w = inputs.weights;
    w.qkv = matrix(s.conv_dim(), s.hidden_size);
    w.z = matrix(s.v_dim(), s.hidden_size);
    w.b = matrix(s.num_v_heads, s.hidden_size);
    w.a = matrix(s.num_v_heads, s.hidden_size);
    w.out = matrix(s.hidden_size, s.v_dim());
    w.conv = numbers(6, s.conv_dim() * s.conv_kernel);
    w.A_log = numbers(7, s.num_v_heads);
    w.dt_bias = numbers(8, s.num_v_heads);
    w.norm = numbers(9, s.head_v_dim);
    for (uint64_t t = 0; t < tokens; ++t) inputs.h.push_back(numbers(10 + t, s.hidden_size));
    std::string why;
    const Lab lab(*find_engine("twin", &why));
    inputs.dialect = lab.description().dialect;
    LayerRun run = lab.run_layer(inputs);
    seen = std::move(run.seen);
  }
  Matrix matrix(int64_t rows, int64_t cols) {
    matrices.push_back(numbers(matrices.size() + 1, rows * cols));
    return {.rows = rows, .cols = cols, .f32 = matrices.back().data()};
  }

  static constexpr uint64_t tokens = 2;
  LayerInputs inputs;
  std::vector<TokenTensors> seen;
  std::vector<std::vector<float>> matrices;
};

const Layer& layer() {
  static const Layer made;
  return made;
}

Contract contract_named(const std::string& name) {
  if (name == "any order") return torch_cpu_contract();
  std::string why;
  return find_engine(name == "serial order" ? "twin" : "simt", &why)->description.contract;
}

void token_of_27b(benchmark::State& state, const std::string& name) {
  const Contract contract = contract_named(name);
  size_t elements = 0;
  for (auto _ : state) {
    const auto want = expect_local(layer().inputs, layer().seen, contract);
    elements = verdict_of(judge(layer().seen, want)).elements;
  }
  const auto judged = static_cast<double>(state.iterations() * Layer::tokens);
  state.counters["seconds_a_token"] =
      benchmark::Counter(judged, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["elements"] = static_cast<double>(elements / Layer::tokens);
}
BENCHMARK_CAPTURE(token_of_27b, any, "any order")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(token_of_27b, serial, "serial order")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(token_of_27b, strided, "strided order")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gdn

BENCHMARK_MAIN();
