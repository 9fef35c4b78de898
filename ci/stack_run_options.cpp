// The options of `deltaproof stack-run`, and what each may be.
#include "ci/stack_run_options.h"

namespace gdn {

void add_stack_run(CLI::App& app, StackRunCommand& run) {
  CLI::App* const command = app.add_subcommand(
      "stack-run",
      "a stack of layers with 4-bit weights, every tensor judged beside the engine as it runs");
  command
      ->add_option("--engine", run.engine,
                   "a built-in engine, mutant:NAME, or the path of a shared library")
      ->capture_default_str();
  command->add_option("--shape", run.shape, "of a layer; 27b is that of Qwen3.5-27B")
      ->check(CLI::IsMember({"27b", "medium", "small"}))
      ->capture_default_str();
  command->add_option("--layers", run.layers, "in the stack")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  command->add_option("--tokens", run.tokens, "fed one after the other")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  command->add_option("--threads", run.threads, "that judge (default: one a core)")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
  command->add_option("--seed", run.seed, "of weights and tokens (default: 1)");
  command->add_option("--sums", run.sums, "who sums up the rows of 4-bit matrices")
      ->check(CLI::IsMember({"auto", "gpu", "cpu"}))
      ->capture_default_str();
  command->add_option("--json", run.json, "write every figure to this file");
}

}  // namespace gdn
