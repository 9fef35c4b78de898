// Examples by the command that they begin with.
#include "ci/help_footer.h"

#include <string>
#include <string_view>

namespace gdn {
namespace {

constexpr std::string_view examples[] = {
    "verify corpus/oracle/*.safetensors",
    "verify corpus/oracle/gdn_tiny_decode.safetensors --engine ./my_engine.so",
    "verify corpus/oracle/ggml_gdn_cpu.safetensors --dialect ggml,head_map=grouped",
    "verify corpus/oracle/gdn_tiny_decode.safetensors --engine mutant:error_before_decay",
    "check --smoke",
    "check --engine ./my_engine.so",
    "check --invariant recurrent_calls_within_bound --engine ./my_engine.so --cases 5000",
    "replay out/layer_within_bound_1a2b3c4d.case",
    "triage out",
    "compare before.json after.json",
    "list invariants",
    "export --cases 200 --subject recurrent --out cases.safetensors",
    "dialects",
    "long-run --engine ./my_engine.so",
    "stack-run --engine ./my_engine.so --shape small",
    "history import out/night.jsonl && deltaproof history drift",
    "report --history out/history.sqlite --out out",
    "corpus add out/layer_within_bound_1a2b3c4d.case --engine ./my_engine.so"};

constexpr const char* exit_statuses = R"(
Exit status
  0  what was judged holds          3  an error of deltaproof itself
  1  something fails, or nothing    4  the engine failed: a status, a crash, lost
     could be judged                5  infrastructure: no device, disk, missing tool
  2  bad input or usage)";

// Examples of one command; of all where it is empty.
std::string footer_of(const std::string& command) {
  std::string text;
  for (const std::string_view example : examples) {
    const bool is_its = command.empty() || example.substr(0, example.find(' ')) == command;
    if (is_its) text += "\n  deltaproof " + std::string(example);
  }
  return (text.empty() ? "" : "\nExamples" + text + "\n") + exit_statuses;
}

}  // namespace

void give_footers(CLI::App& app) {
  app.footer(footer_of(""));
  for (CLI::App* const command : app.get_subcommands({})) {
    command->footer(footer_of(command->get_name()));
  }
}

}  // namespace gdn
