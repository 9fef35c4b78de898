// gpu_check: what a GPU runner asks of the engine `cuda`, part by part. ci/gpu calls it.

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "ci/exit_status.h"
#include "ci/files.h"
#include "ci/stopwatch.h"
#include "tests/gpu/commands.h"

namespace gdn::gpu {

Shape qwen_shape(int64_t layers) {
  Shape shape;
  shape.hidden_size = 5120;
  shape.num_k_heads = 16;
  shape.head_k_dim = 128;
  shape.num_v_heads = 48;
  shape.head_v_dim = 128;
  shape.conv_kernel = 4;
  shape.num_layers = layers;
  return shape;
}

Shape small_shape(int64_t layers) {
  Shape shape = qwen_shape(layers);
  shape.hidden_size = 160;
  shape.num_k_heads = 2;
  shape.head_k_dim = 16;
  shape.num_v_heads = 6;
  shape.head_v_dim = 16;
  return shape;
}

EngineSource engine_or_exit(const std::string& name) {
  std::string why;
  const std::optional<EngineSource> found = find_engine(name, &why);
  if (!found) {
    fmt::print(stderr, "gpu_check: {}\n", why);
    std::exit(exit_bad_input);
  }
  const gdn_shape shape = c_shape(small_shape(1));
  const gdn_options options = default_options();
  gdn_engine* opened = nullptr;
  const gdn_status status = found->api->open(&shape, &options, &opened);
  if (status != GDN_OK) {
    fmt::print(stderr, "gpu_check: engine {}: {}: {}\n", name, name_of(status),
               found->api->last_error(nullptr));
    std::exit(status == GDN_NOT_AVAILABLE ? exit_infrastructure : exit_engine_failed);
  }
  found->api->close(opened);
  return *found;
}

namespace {

struct Part {
  const char* name;
  const char* what;
  Findings (*run)(const Options&);
};

constexpr Part parts[] = {
    {"same_bits", "random cases give equal bits on two engines", check_same_bits},
    {"launches", "kernels give equal bits in every size of block", check_launches},
    {"replays", "step, run, forward and reset give equal bits", check_replays},
    {"accuracy", "OUT of a capture's layer against the exact values", measure_accuracy},
    {"formats", "what 4-bit weights and q8_0 activations cost", measure_formats},
    {"row_sums", "the checker's row sums on the GPU agree with the CPU's", check_row_sums},
    {"stack", "how rounding and quantisation grow through layers", measure_stack},
};

int run_part(const Part& part, const Options& options, const std::string& json) {
  const Stopwatch watch;
  Findings findings = part.run(options);
  findings.name = part.name;
  findings.engine = options.engine;
  findings.seconds = watch.seconds();
  fmt::print("{}", as_text(findings));
  if (!json.empty()) {
    if (const std::string why = write_whole(json, as_json(findings)); !why.empty()) {
      fmt::print(stderr, "gpu_check: {}\n", why);
      return exit_infrastructure;
    }
  }
  return findings.all_hold() ? exit_ok : exit_fails;
}

int run(int count, char** arguments) {
  CLI::App app("Checks and measures an engine that runs the kernels, on a GPU or simulated.");
  app.require_subcommand(1);
  Options options;
  std::string json;
  int status = exit_ok;
  for (const Part& part : parts) {
    CLI::App* const sub = app.add_subcommand(part.name, part.what);
    sub->add_option("paths", options.paths, "a capture");
    sub->add_option("--engine", options.engine, "cuda, simt, simt_checked, ...");
    sub->add_option("--against", options.against, "the engine whose bits are compared");
    sub->add_option("--cases", options.cases, "how many to draw");
    sub->add_option("--seed", options.seed, "of what is drawn");
    sub->add_option("--threads", options.threads, "of this program");
    sub->add_option("--layers", options.layers, "in the stack");
    sub->add_option("--tokens", options.tokens, "in a sequence");
    sub->add_flag("--whole-shape", options.whole_shape, "the layer of Qwen3.5-27B");
    sub->add_flag("--independent", options.independent, "no common part in rows of the stack");
    sub->add_option("--json", json, "where to write the findings");
    sub->callback([&status, &options, &json, &part] { status = run_part(part, options, json); });
  }
  CLI::App* const report = app.add_subcommand("report", "one report of the findings of all parts");
  report->add_option("paths", options.paths, "findings")->required();
  report->add_option("--commit", options.commit, "what was built");
  report->add_option("--json", json, "where to write it")->required();
  report->add_option("--markdown", options.markdown, "a folder: GPU-NAME.md is written there");
  report->callback([&] { status = write_report(options, json); });
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    const int shown = app.exit(error);
    return shown == 0 ? exit_ok : exit_bad_input;
  }
  return status;
}

}  // namespace
}  // namespace gdn::gpu

int main(int count, char** arguments) {
  try {
    return gdn::gpu::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_check: %s\n", error.what());
    return gdn::exit_internal;
  }
}
