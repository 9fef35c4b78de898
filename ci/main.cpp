// The program `deltaproof`: is every number that an engine produces explainable by rounding, and if
// not, which operator is wrong?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <system_error>

#include "ci/commands.h"
#include "ci/corpus_commands.h"
#include "ci/exit_status.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/night/night_commands.h"
#include "ci/triage_command.h"
#include "ci/watched_child.h"

namespace {

constexpr const char* footer = R"(
Examples
  deltaproof verify corpus/oracle/*.safetensors
  deltaproof verify corpus/oracle/gdn_tiny_decode.safetensors --engine ./my_engine.so
  deltaproof verify corpus/oracle/ggml_gdn_cpu.safetensors --dialect ggml,head_map=grouped
  deltaproof verify corpus/oracle/gdn_tiny_decode.safetensors --engine mutant:error_before_decay
  deltaproof check --smoke
  deltaproof check --invariant layer_within_bound --engine ./my_engine.so --cases 5000
  deltaproof replay out/layer_within_bound_1a2b3c4d.case
  deltaproof triage out
  deltaproof compare before.json after.json
  deltaproof list invariants
  deltaproof export --cases 200 --out cases.safetensors
  deltaproof dialects
  deltaproof history import out/night.jsonl && deltaproof history drift
  deltaproof report --history out/history.sqlite --out out
  deltaproof corpus add out/layer_within_bound_1a2b3c4d.case --engine ./my_engine.so

Exit status
  0  what was judged holds          3  an error of deltaproof itself
  1  something fails, or nothing    4  the engine failed: a status, a crash, lost
     could be judged                5  infrastructure: no device, disk, missing tool
  2  bad input or usage)";

constexpr const char* engine_help =
    "a built-in engine, mutant:NAME, or the path of a shared library";

// What CLI::Range accepts, but for NaN, which is not less than anything.
std::string why_not_between(const std::string& text, double least, double most) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number);
  if (is_number && number >= least && number <= most) return "";
  return fmt::format("expected a number from {} to {}, got '{}'", least, most, text);
}

auto between(double least, double most) {
  return [=](const std::string& text) { return why_not_between(text, least, most); };
}

const CLI::App* add_verify(CLI::App& app, gdn::VerifyCommand& verify) {
  CLI::App* const command =
      app.add_subcommand("verify", "judge captures, and an engine run on the same inputs");
  command
      ->add_option("files", verify.files,
                   "safetensors files; the format (gdn-oracle-1, gdn-trace-1, q4-oracle-1) is read "
                   "from each")
      ->required();
  command->add_option("--engine", verify.engine, engine_help)->capture_default_str();
  command->add_option(
      "--dialect", verify.dialect,
      "judge by these conventions in place of the file's own: NAME[,dimension=value]...");
  command->add_option("--json", verify.json, "write every figure to this file");
  command->add_option("--markdown", verify.markdown, "write the report to this file");
  command->add_option("--summary", verify.summary,
                      "replace the part 'worst error/bound' of this document");
  return command;
}

const CLI::App* add_check(CLI::App& app, gdn::CheckCommand& check) {
  CLI::App* const command = app.add_subcommand(
      "check", "judge engines by the invariants, on cases drawn at random and those of the corpus");
  command->add_flag("--smoke", check.smoke,
                    "everything, about a minute on two cores: all engines that are here, the "
                    "corpus, then cases of a fixed seed");
  command->add_option("--invariant", check.invariants, "this one alone; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--engine", check.engines,
                   std::string(engine_help) + "; may be repeated (default: twin and simt)")
      ->allow_extra_args(false);
  command->add_option("--seed", check.seed,
                      "a number, or hexadecimal text such as a commit's hash (default: 1)");
  command->add_option("--cases", check.cases, "how many to draw (default: 1000)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  command->add_option("--seconds", check.seconds, "begin no case later than this")
      ->check(between(0, 1e9));
  command->add_option("--jobs", check.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--shard", check.shard, "i/n, as 0/4 to 3/4: judge every n-th case alone");
  command->add_option("--corpus", check.corpus, "judge the cases of this folder first");
  command->add_option("--out", check.out, "where cases that fail are saved")->capture_default_str();
  command->add_option("--json", check.json, "write every figure to this file");
  command->add_option("--markdown", check.markdown, "write the report to this file");
  return command;
}

const CLI::App* add_replay(CLI::App& app, gdn::ReplayCommand& replay) {
  CLI::App* const command = app.add_subcommand("replay", "judge cases from files, and tell why");
  command->add_option("files", replay.files, "case files")->required();
  command->add_option("--invariant", replay.invariants, "this one alone; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--engine", replay.engines,
                   std::string(engine_help) + "; may be repeated (default: twin and simt)")
      ->allow_extra_args(false);
  return command;
}

const CLI::App* add_triage(CLI::App& app, gdn::TriageCommand& triage) {
  CLI::App* const command = app.add_subcommand(
      "triage", "which operator is wrong, since when, and why: see docs/triage.md");
  command->add_option("paths", triage.paths,
                      "cases, records or reports of check, or the folder that it saves them in");
  command
      ->add_option("--engine", triage.engines,
                   std::string(engine_help) + "; may be repeated (default: the one that failed)")
      ->allow_extra_args(false);
  command->add_option("--invariant", triage.invariants, "the one that fails on it")
      ->allow_extra_args(false);
  command->add_option("--out", triage.out, "where smallest cases are saved")->capture_default_str();
  command->add_option("--jobs", triage.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--seconds", triage.seconds, "an engine hangs that takes longer for a case")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--json", triage.json, "write every figure to this file");
  command->add_option("--markdown", triage.markdown, "write it as for an issue tracker");
  command->add_option("--bisect", triage.bisect,
                      "GOOD..BAD: look for the first commit on which the smallest case fails");
  command->add_option("--repository", triage.repository, "whose commits (default: those of here)");
  command->add_option("--build", triage.build, "builds a commit (default: the preset dev)");
  command->add_option("--test", triage.test,
                      "0 good, 1 bad, else unknown (default: replay of the smallest case)");
  command->add_flag("--mutants", triage.mutants,
                    "triage of every mutant on the first seed that kills it, as a table");
  command->add_flag("--kernel-mutants", triage.kernel_mutants,
                    "with it, those that are edits of the kernels: see docs/kernel-mutants.md");
  command->add_option("--mutant", triage.of_mutant, "with it, this one alone; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seeds", triage.seeds, "with it, the folder whose cases are judged");
  command->add_option("--summary", triage.summary,
                      "with it, replace the part 'triage' of this document; with --kernel-mutants "
                      "'triage of kernel mutants'");
  return command;
}

const CLI::App* add_matrix(CLI::App& app, gdn::MatrixCommand& matrix) {
  CLI::App* const command =
      app.add_subcommand("matrix", "every mutant against every invariant: which of them kill it");
  command->add_flag("--kernel-mutants", matrix.kernel_mutants,
                    "the mutants that are edits of the kernels: see docs/kernel-mutants.md");
  command->add_option("--mutant", matrix.mutants, "this one alone; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seeds", matrix.seeds, "the folder whose cases are judged");
  command->add_option("--cases", matrix.cases, "how many to draw beside the seeds")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  command->add_option("--seed", matrix.seed, "of the cases that are drawn (default: 1)");
  command->add_flag("--drawn-only", matrix.drawn_only, "no seeds, the cases that are drawn alone");
  command->add_flag("--until-killed", matrix.until_killed,
                    "each mutant up to the first case that kills it, asked as check asks");
  command->add_option("--from", matrix.from,
                      "judge nothing, take the cells from this --json of an earlier run");
  command->add_flag("--public-rules", matrix.public_rules,
                    "beside the invariants the acceptance rules of public test suites");
  command->add_option("--jobs", matrix.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", matrix.json, "write every cell to this file");
  command->add_option("--summary", matrix.summary,
                      "replace the part 'catalogue' of this document; with --public-rules the part "
                      "'public rules', with --kernel-mutants 'kernel mutants'");
  return command;
}

const CLI::App* add_compare(CLI::App& app, gdn::CompareCommand& compare) {
  CLI::App* const command = app.add_subcommand(
      "compare", "two runs operator by operator: which distribution of error/bound moved");
  command->add_option("before", compare.before, "a report of verify or check, JSON")->required();
  command->add_option("after", compare.after, "another one of the same command")->required();
  command->add_option("--level", compare.level, "chance of any false alarm in the comparison")
      ->check(between(1e-12, 0.5))
      ->capture_default_str();
  command->add_option("--json", compare.json, "write every figure to this file");
  command->add_option("--markdown", compare.markdown, "write the report to this file");
  return command;
}

const CLI::App* add_limit(CLI::App& app, gdn::LimitCommand& limit) {
  CLI::App* const command = app.add_subcommand(
      "limit", "the smallest change of one element that is always seen, and what other rules see");
  command->add_option("--engine", limit.engine, engine_help)->capture_default_str();
  command->add_option("--seed", limit.seed, "of cases and trials (default: 1)");
  command->add_option("--trials", limit.trials, "of each tensor")
      ->check(CLI::Range(int64_t{10}, int64_t{1} << 20))
      ->capture_default_str();
  command->add_flag("--quick", limit.quick, "small shapes and short horizons alone: seconds");
  command->add_option("--jobs", limit.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", limit.json, "write every figure to this file");
  command->add_option("--summary", limit.summary,
                      "replace the part 'detection limits' of this document");
  return command;
}

const CLI::App* add_odds(CLI::App& app, gdn::OddsCommand& odds) {
  CLI::App* const command = app.add_subcommand(
      "odds", "the false alarms of the statistical tier, and what it sees beneath the bound");
  command->add_option("--seed", odds.seed, "of the cases that are drawn (default: 1)");
  command->add_option("--cases", odds.cases, "how many to draw")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--jobs", odds.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", odds.json, "write every figure to this file");
  command->add_option("--summary", odds.summary,
                      "replace the part 'measured odds' of this document");
  return command;
}

const CLI::App* add_list(CLI::App& app, gdn::ListCommand& list) {
  CLI::App* const command =
      app.add_subcommand("list", "engines, mutants, invariants and dialects that are built in");
  command->add_option("what", list.what, "one of them alone")
      ->check(CLI::IsMember({"engines", "mutants", "kernel_mutants", "invariants", "dialects"}));
  command->add_flag("--json", list.json, "as JSON");
  return command;
}

const CLI::App* add_dialects(CLI::App& app, gdn::DialectsCommand& dialects) {
  CLI::App* const command = app.add_subcommand(
      "dialects", "where presets differ, and the smallest cases that show it: docs/dialects.md");
  command->add_option("--json", dialects.json, "write every figure to this file");
  command->add_option("--summary", dialects.summary,
                      "replace the part 'dialects' of this document");
  return command;
}

const CLI::App* add_export(CLI::App& app, gdn::ExportCommand& exported) {
  CLI::App* const command = app.add_subcommand(
      "export", "write cases with expected values and bounds, for suites that link nothing");
  command->add_option("files", exported.files, "case files");
  command->add_option("--out", exported.out, "the safetensors file to write")->required();
  command->add_option("--cases", exported.cases, "how many to draw beside the files")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 16));
  command->add_option("--seed", exported.seed, "of the cases that are drawn (default: 1)");
  command->add_option("--subject", exported.subjects, "draw this alone; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--contract", exported.contract,
                   "whose arithmetic: any_f32, torch_cpu, triton, or an engine's own")
      ->capture_default_str();
  return command;
}

struct CorpusCommands {
  gdn::CorpusAddCommand add;
  gdn::CorpusMinimiseCommand minimise;
  gdn::CorpusListCommand list;
};

void add_corpus_add(CLI::App& corpus, gdn::CorpusAddCommand& add) {
  CLI::App* const command = corpus.add_subcommand(
      "add", "make a file that shows a fault small, and keep it as a regression");
  command->add_option("files", add.files, "cases, or bytes that crash a hostile fuzz target")
      ->required();
  command
      ->add_option("--engine", add.engines,
                   std::string(engine_help) + "; beside those that are built in")
      ->allow_extra_args(false);
  command->add_option("--found-by", add.found_by, "who or what found it, in words");
  command->add_option("--corpus", add.corpus, "the folder that it is kept in");
  command->add_option("--target", add.target, "the fuzz target whose input the files are");
  command->add_option("--date", add.date, "of the file's name, yyyy-mm-dd (default: today)");
}

CLI::App* add_corpus(CLI::App& app, CorpusCommands& corpus) {
  CLI::App* const command = app.add_subcommand(
      "corpus", "keep what showed a fault, and the fuzzers' inputs few: see docs/corpus.md");
  command->require_subcommand(1);
  add_corpus_add(*command, corpus.add);
  CLI::App* const minimise = command->add_subcommand(
      "minimise", "drop inputs of fuzz targets that equal others or cover no more than they do");
  minimise->add_option("--corpus", corpus.minimise.corpus, "the folder to work on");
  minimise->add_option(
      "--binaries", corpus.minimise.binaries,
      "a folder with the targets as libFuzzer programs (default: build/fuzz/fuzz)");
  for (const auto& [name, about] : {std::pair{"list", "every file, and what it shows"},
                                    std::pair{"stats", "counts, and what no file covers"}}) {
    CLI::App* const one = command->add_subcommand(name, about);
    one->add_option("--corpus", corpus.list.corpus, "the folder to look at");
    one->add_flag("--json", corpus.list.json, "as JSON");
  }
  return command;
}

gdn::ExitStatus run_corpus(const CLI::App& command, const CorpusCommands& corpus) {
  if (command.got_subcommand("add")) return gdn::run_corpus_add(corpus.add);
  if (command.got_subcommand("minimise")) return gdn::run_corpus_minimise(corpus.minimise);
  if (command.got_subcommand("list")) return gdn::run_corpus_list(corpus.list);
  return gdn::run_corpus_stats(corpus.list);
}

int run(int argc, char** argv) {
  CLI::App app{
      "deltaproof verifies Gated DeltaNet engines: is every number explainable by rounding, and "
      "if not, which operator is wrong?"};
  app.set_version_flag("--version", gdn::version_text());
  app.footer(footer);
  app.require_subcommand(1);
  // Before or after the command: it belongs to all that call engines.
  app.fallthrough();
  double call_seconds = gdn::call_seconds_max();
  app.add_option("--call-seconds", call_seconds,
                 "an engine hangs that does not come back from a call in this time; waiting for a "
                 "processor does not count")
      ->capture_default_str()
      ->check(between(0.1, 1e7));

  gdn::VerifyCommand verify;
  gdn::CheckCommand check;
  gdn::ReplayCommand replay;
  gdn::MatrixCommand matrix;
  gdn::LimitCommand limit;
  gdn::OddsCommand odds;
  gdn::CompareCommand compare;
  gdn::ListCommand list;
  gdn::ExportCommand exported;
  gdn::DialectsCommand dialects;
  gdn::TriageCommand triage;
  CorpusCommands corpus;
  verify.program = check.program = replay.program = matrix.program = argv[0];
  triage.program = limit.program = odds.program = argv[0];
  dialects.program = corpus.add.program = argv[0];
  const CLI::App* const verify_command = add_verify(app, verify);
  const CLI::App* const check_command = add_check(app, check);
  const CLI::App* const replay_command = add_replay(app, replay);
  const CLI::App* const triage_command = add_triage(app, triage);
  const CLI::App* const matrix_command = add_matrix(app, matrix);
  const CLI::App* const limit_command = add_limit(app, limit);
  const CLI::App* const odds_command = add_odds(app, odds);
  const CLI::App* const compare_command = add_compare(app, compare);
  const CLI::App* const list_command = add_list(app, list);
  const CLI::App* const export_command = add_export(app, exported);
  const CLI::App* const dialects_command = add_dialects(app, dialects);
  gdn::NightCommands night;
  night.panel.program = argv[0];
  gdn::add_night_commands(app, night);
  const CLI::App* const corpus_command = add_corpus(app, corpus);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? gdn::exit_ok : gdn::exit_bad_input;
  }
  gdn::set_call_seconds_max(call_seconds);
  if (verify_command->parsed()) return gdn::run_verify(verify);
  if (check_command->parsed()) return gdn::run_check(check);
  if (replay_command->parsed()) return gdn::run_replay(replay);
  if (triage_command->parsed()) return gdn::run_triage(triage);
  if (matrix_command->parsed()) {
    return matrix.kernel_mutants ? gdn::run_kernel_matrix(matrix) : gdn::run_matrix(matrix);
  }
  if (limit_command->parsed()) return gdn::run_limit(limit);
  if (odds_command->parsed()) return gdn::run_odds(odds);
  if (compare_command->parsed()) return gdn::run_compare(compare);
  if (list_command->parsed()) return gdn::run_list(list);
  if (export_command->parsed()) return gdn::run_export(exported);
  if (dialects_command->parsed()) return gdn::run_dialects(dialects);
  if (const auto status = gdn::run_night_commands(app, night)) return *status;
  if (corpus_command->parsed()) return run_corpus(*corpus_command, corpus);
  return gdn::exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "deltaproof: %s\n", error.what());
    return gdn::exit_infrastructure;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deltaproof: internal error: %s\n", error.what());
    return gdn::exit_internal;
  }
}
