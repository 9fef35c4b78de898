// The program `deltaproof`: is every number that an engine produces explainable by rounding, and if
// not, which operator is wrong?
#include <CLI/CLI.hpp>
#include <exception>

#include "ci/commands.h"
#include "ci/exit_status.h"

namespace {

constexpr const char* footer = R"(
Examples
  deltaproof verify corpus/oracle/*.safetensors
  deltaproof verify corpus/oracle/gdn_tiny_decode.safetensors --engine ./my_engine.so
  deltaproof verify corpus/oracle/ggml_gdn_cpu.safetensors --dialect ggml,head_map=grouped
  deltaproof verify corpus/oracle/gdn_tiny_decode.safetensors --engine mutant:error_before_decay
  deltaproof list

Exit status
  0  what was judged holds          3  an error of deltaproof itself
  1  something fails, or nothing    4  the engine failed: a status, a crash, lost
     could be judged                5  infrastructure: no device, disk, missing tool
  2  bad input or usage)";

int run(int argc, char** argv) {
  CLI::App app{
      "deltaproof verifies Gated DeltaNet engines: is every number explainable by rounding, and "
      "if not, which operator is wrong?"};
  app.set_version_flag("--version", gdn::version_text());
  app.footer(footer);
  app.require_subcommand(1);

  gdn::VerifyCommand verify;
  verify.program = argv[0];
  CLI::App* verify_command =
      app.add_subcommand("verify", "judge captures, and an engine run on the same inputs");
  verify_command
      ->add_option("files", verify.files,
                   "safetensors files; the format (gdn-oracle-1, gdn-trace-1, q4-oracle-1) is read "
                   "from each")
      ->required();
  verify_command
      ->add_option("--engine", verify.engine,
                   "a built-in engine, mutant:NAME, or the path of a shared library")
      ->capture_default_str();
  verify_command->add_option(
      "--dialect", verify.dialect,
      "judge by these conventions in place of the file's own: NAME[,dimension=value]...");
  verify_command->add_option("--json", verify.json, "write every figure to this file");
  verify_command->add_option("--markdown", verify.markdown, "write the report to this file");
  verify_command->add_option("--summary", verify.summary,
                             "replace the part 'worst error/bound' of this document");

  CLI::App* list_command =
      app.add_subcommand("list", "engines, mutants, dialects and invariants that are built in");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? gdn::exit_ok : gdn::exit_bad_input;
  }
  if (verify_command->parsed()) return gdn::run_verify(verify);
  if (list_command->parsed()) return gdn::run_list();
  return gdn::exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deltaproof: internal error: %s\n", error.what());
    return gdn::exit_internal;
  }
}
