// OUT of a captured layer against the exact values: how far the engine, the twin and the capture
// itself, which is one rounding path and not the truth, lie from them.
#include <cstdlib>

#include <fmt/format.h>

#include "invariants/harness/capture.h"
#include "invariants/harness/lab.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/distance.h"

namespace gdn::gpu {
namespace {

// An aim and no bound: the captured implementation itself lies between 6e-7 and 1.2e-6 from the
// exact values, token by token, and the engine is to be among the better half.
constexpr double mark = 8e-7;

struct Worst {
  Distance at;
  size_t token = 0;
  double rms = 0;
};

Worst worst_of(const std::vector<TokenTensors>& seen, const std::vector<TokenExpectation>& want) {
  Worst worst;
  for (size_t t = 0; t < want.size(); ++t) {
    if (t >= seen.size() || !seen[t].contains(Tensor::OUT))
      return {{INFINITY, INFINITY}, t, INFINITY};
    const Distance here = distance(seen[t].at(Tensor::OUT), want[t].at(Tensor::OUT).value);
    worst.rms = std::max(worst.rms, here.rms);
    if (here.largest <= worst.at.largest) continue;
    worst.at = here;
    worst.token = t;
  }
  return worst;
}

}  // namespace

Findings measure_accuracy(const Options& options) {
  Findings found;
  std::string why;
  const auto capture = options.paths.empty() ? std::nullopt : read_capture(options.paths[0], &why);
  const auto* const layer = capture ? std::get_if<LayerCapture>(&capture->content) : nullptr;
  if (layer == nullptr) {
    found.state(false, "a capture of a layer was read", why);
    return found;
  }
  const std::vector<TokenExpectation> want = expect_global(layer->inputs, torch_cpu_contract());
  LayerInputs inputs = layer->inputs;
  inputs.calls.clear();
  FiguresTable table{
      fmt::format("OUT against the exact values, {} tokens, hidden {}", want.size(),
                  inputs.shape.hidden_size),
      {"source", "worst max|error| / max|value|", "at token", "worst RMS error / RMS value"},
      {}};
  const auto add = [&](const std::string& name, const Worst& worst) {
    table.rows.push_back({name, worst.at.largest, static_cast<int64_t>(worst.token), worst.rms});
  };
  for (const std::string& name : {options.engine, std::string("twin")}) {
    const Lab lab(engine_or_exit(name));
    inputs.dialect = lab.description().dialect;
    const LayerRun run = lab.run_layer(inputs);
    const Worst worst = worst_of(run.seen, want);
    add(name, worst);
    if (name != options.engine) continue;
    found.state(run.conduct.holds() && worst.at.largest <= mark,
                fmt::format("{}: max|error| / max|value| of OUT is at most {:.0e}", name, mark),
                run.conduct.holds() ? fmt::format("{:.3g}", worst.at.largest) : run.conduct.detail);
  }
  add("the capture", worst_of(layer->seen, want));
  found.tables.push_back(std::move(table));
  return found;
}

}  // namespace gdn::gpu
