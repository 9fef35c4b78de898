// `deltaproof stack-run`: a stack of layers with 4-bit weights, every tensor judged beside the
// engine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/stack_run.h"
#include "ci/supervised.h"
#include "ci/table.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

Shape shape_named(const std::string& name) {
  Shape s;
  s.conv_kernel = 4;
  if (name == "27b") {
    s.hidden_size = 5120;
    s.num_k_heads = 16, s.head_k_dim = 128;
    s.num_v_heads = 48, s.head_v_dim = 128;
  } else if (name == "medium") {
    s.hidden_size = 1024;
    s.num_k_heads = 4, s.head_k_dim = 64;
    s.num_v_heads = 12, s.head_v_dim = 64;
  } else {
    s.hidden_size = 160;
    s.num_k_heads = 2, s.head_k_dim = 16;
    s.num_v_heads = 6, s.head_v_dim = 16;
  }
  return s;
}

// Who sums up rows, for the report.
struct Summing {
  std::unique_ptr<GpuRowSums> gpu;
  std::string in_words = "the CPU";
};

std::string command_of(const StackRunCommand& c, const StackRun& run) {
  return fmt::format(
      "{} stack-run --engine {} --shape {} --layers {} --tokens {} --seed {} --sums {}",
      shell_word(c.program), shell_word(c.engine), c.shape, c.layers, c.tokens, run.seed, c.sums);
}

std::string where_of(const StackRow& row) {
  return fmt::format("layer {}, token {} [{}]", row.layer, row.token, row.verdict.worst_index);
}

std::string table_of(const StackReport& report) {
  TextTable table;
  table.header = {"operator", "tensor", "numbers", "error/bound", "where", "verdict"};
  for (const StackRow& row : report.rows) {
    table.rows.push_back({std::string(name_of(operator_of(row.tensor))),
                          std::string(name_of(row.tensor)), fmt::format("{}", row.verdict.elements),
                          fmt::format("{:.3g}", row.verdict.worst_ratio), where_of(row),
                          std::string(name_of(row.verdict.outcome))});
  }
  return as_text(table);
}

std::string as_json(const StackReport& report, const StackRunCommand& command,
                    const StackRun& run) {
  ordered_json rows = ordered_json::array();
  for (const StackRow& row : report.rows) {
    rows.push_back({{"operator", name_of(operator_of(row.tensor))},
                    {"tensor", name_of(row.tensor)},
                    {"verdict", name_of(row.verdict.outcome)},
                    {"elements", row.verdict.elements},
                    {"undecided", row.verdict.undecided},
                    {"worst_ratio", json_figure(row.verdict.worst_ratio)},
                    {"worst_ulp", json_figure(row.verdict.worst_ulp)},
                    {"layer", row.layer},
                    {"token", row.token},
                    {"index", row.verdict.worst_index},
                    {"detail", row.verdict.detail}});
  }
  const ordered_json all = {{"format", "deltaproof-stack-run"},
                            {"version", 1},
                            {"deltaproof", version_text()},
                            {"command", command_of(command, run)},
                            {"engine", command.engine},
                            {"shape", command.shape},
                            {"layers", run.shape.num_layers},
                            {"tokens", run.tokens},
                            {"seed", fmt::format("{}", run.seed)},
                            {"row_sums", run.sums != nullptr ? "gpu" : "cpu"},
                            {"rows_on_gpu", report.rows_elsewhere},
                            {"rows_again_on_cpu", report.rows_again},
                            {"verdict", name_of(report.verdict.outcome)},
                            {"conduct", report.conduct.detail},
                            {"first_failure", report.first_failure},
                            {"judged", report.token_layers},
                            {"failing", report.failing},
                            {"elements", report.verdict.elements},
                            {"tensors", rows}};
  return all.dump(2) + "\n";
}

ExitStatus status_of(const StackReport& report) {
  if (report.verdict.outcome == Outcome::fails) return exit_fails;
  if (report.verdict.outcome == Outcome::engine_error) return exit_engine_failed;
  const bool any_holds = std::any_of(report.rows.begin(), report.rows.end(),
                                     [](const StackRow& row) { return row.verdict.holds(); });
  return any_holds ? exit_ok : exit_fails;
}

ExitStatus open_sums(const StackRunCommand& command, Summing& summing) {
  if (command.sums == "cpu") return exit_ok;
  std::string why;
  summing.gpu = GpuRowSums::open(&why);
  if (summing.gpu) {
    summing.in_words = "the GPU";
  } else if (command.sums == "gpu") {
    return refuse("--sums gpu: " + why, exit_infrastructure);
  } else {
    summing.in_words = fmt::format("the CPU ({})", why);
  }
  return exit_ok;
}

void print_report(const StackReport& report, const StackRunCommand& command, const StackRun& run,
                  const Summing& summing) {
  to_terminal(
      "engine {}, shape {}, {} layers, {} tokens, seed {}; rows are summed up by {}\n\n{}\n",
      visible(command.engine), command.shape, run.shape.num_layers, run.tokens, run.seed,
      summing.in_words, table_of(report));
  if (!report.first_failure.empty()) to_terminal("fails: {}\n", visible(report.first_failure));
  if (!report.conduct.detail.empty()) {
    to_terminal("{}: {}\n", name_of(report.conduct.outcome), visible(report.conduct.detail));
  }
  to_terminal("{} of {} tokens and layers judged, {} of them fail, {} numbers: {}\n",
              report.token_layers, run.tokens * run.shape.num_layers, report.failing,
              report.verdict.elements, name_of(report.verdict.outcome));
  if (run.sums != nullptr) {
    to_terminal("{} rows of matrices summed up by the GPU, {} of them again by the CPU\n",
                report.rows_elsewhere, report.rows_again);
  }
  const StackSeconds& s = report.seconds;
  to_terminal(
      "seconds: {:.1f} making weights, {:.1f} loading them, {:.1f} judging; meanwhile {:.1f} in "
      "the engine's steps and reads, {:.1f} in {} threads that judge\nreplay: {}\n",
      s.weights, s.loading, s.judging, s.engine, s.threads, run.threads, command_of(command, run));
}

ExitStatus stack_run_of(const StackRunCommand& command, Doing& now) {
  StackRun run;
  run.shape = shape_named(command.shape);
  run.shape.num_layers = command.layers;
  run.tokens = command.tokens;
  run.threads = command.threads > 0 ? command.threads
                                    : std::max<int64_t>(1, std::thread::hardware_concurrency());
  const ExitStatus has_seed = seed_asked(command.seed, &run.seed);
  if (has_seed != exit_ok) return has_seed;
  EnginesHere here;
  const ExitStatus found = find_engine_for(command.engine, command.json, now, here);
  if (found != exit_ok) return found;
  Summing summing;
  const ExitStatus opened = open_sums(command, summing);
  if (opened != exit_ok) return opened;
  run.sums = summing.gpu.get();

  now.enter(Doing::Whose::engine, fmt::format("engine {}: a stack of layers", command.engine));
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const int64_t all = run.tokens * run.shape.num_layers;
  StackReport report;
  try {
    report = judge_stack_run(run, here.engines.front(), [&](int64_t judged) {
      if (terminal) fmt::print(stderr, "\r\033[K{} of {} tokens and layers", judged, all);
    });
  } catch (const GpuFailure& failure) {
    return refuse(failure.what(), exit_infrastructure);
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
  now.enter(Doing::Whose::ours, "writing the report");
  print_report(report, command, run, summing);
  ExitStatus written = exit_ok;
  if (!command.json.empty()) {
    const std::string why = write_whole(command.json, as_json(report, command, run));
    if (!why.empty()) written = refuse(why, exit_infrastructure);
  }
  return combined(status_of(report), written);
}

}  // namespace

ExitStatus run_stack_run(const StackRunCommand& command) {
  return supervised([&](Doing& now) { return stack_run_of(command, now); });
}

}  // namespace gdn
