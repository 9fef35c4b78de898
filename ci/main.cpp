// The program `deltaproof`: is every number that an engine produces explainable by rounding, and if
// not, which operator is wrong?
#include <fmt/format.h>

#include <malloc.h>
#include <CLI/CLI.hpp>
#include <exception>
#include <system_error>

#include "ci/commands.h"
#include "ci/corpus_commands.h"
#include "ci/exit_status.h"
#include "ci/help_footer.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/night/night_commands.h"
#include "ci/stack_run_options.h"
#include "ci/triage_command.h"
#include "ci/watched_child.h"

namespace {

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

void add_verify(CLI::App& app, gdn::VerifyCommand& verify) {
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
}

void add_check(CLI::App& app, gdn::CheckCommand& check) {
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
}

void add_replay(CLI::App& app, gdn::ReplayCommand& replay) {
  CLI::App* const command = app.add_subcommand("replay", "judge cases from files, and tell why");
  command->add_option("files", replay.files, "case files")->required();
  command->add_option("--invariant", replay.invariants, "this one alone; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--engine", replay.engines,
                   std::string(engine_help) + "; may be repeated (default: twin and simt)")
      ->allow_extra_args(false);
  command->add_option("--json", replay.json, "write what fails to this file");
}

void add_triage(CLI::App& app, gdn::TriageCommand& triage) {
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
}

void add_matrix(CLI::App& app, gdn::MatrixCommand& matrix) {
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
                      "take the cells of this --json of an earlier run, judge what is new");
  command->add_flag("--public-rules", matrix.public_rules,
                    "beside the invariants the acceptance rules of public test suites");
  command->add_option("--jobs", matrix.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", matrix.json, "write every cell to this file");
  command->add_option("--summary", matrix.summary,
                      "replace the part 'catalogue' of this document; with --public-rules the part "
                      "'public rules', with --kernel-mutants 'kernel mutants'");
}

void add_compare(CLI::App& app, gdn::CompareCommand& compare) {
  CLI::App* const command = app.add_subcommand(
      "compare", "two runs operator by operator: which distribution of error/bound moved");
  command->add_option("before", compare.before, "a report of verify or check, JSON")->required();
  command->add_option("after", compare.after, "another one of the same command")->required();
  command->add_option("--level", compare.level, "chance of any false alarm in the comparison")
      ->check(between(1e-12, 0.5))
      ->capture_default_str();
  command->add_option("--json", compare.json, "write every figure to this file");
  command->add_option("--markdown", compare.markdown, "write the report to this file");
}

void add_limit(CLI::App& app, gdn::LimitCommand& limit) {
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
}

void add_long_run(CLI::App& app, gdn::LongRunCommand& run) {
  CLI::App* const command = app.add_subcommand(
      "long-run", "a recurrence over a million tokens, judged with the bound that gathers in it");
  command->add_option("--engine", run.engine, engine_help)->capture_default_str();
  command->add_option("--tokens", run.tokens, "how many")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--head-dim", run.head_dim, "of the one head: kd and vd")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  command->add_option("--horizon", run.horizon, "tokens after which a state has decayed to 1/e")
      ->check(between(1, 1e15))
      ->capture_default_str();
  command->add_option("--seed", run.seed, "of the tokens (default: 1)");
  command->add_option("--json", run.json, "write every figure to this file");
}

void add_odds(CLI::App& app, gdn::OddsCommand& odds) {
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
}

void add_list(CLI::App& app, gdn::ListCommand& list) {
  CLI::App* const command =
      app.add_subcommand("list", "engines, mutants, invariants and dialects that are built in");
  command->add_option("what", list.what, "one of them alone")
      ->check(CLI::IsMember({"engines", "mutants", "kernel_mutants", "invariants", "dialects"}));
  command->add_flag("--json", list.json, "as JSON");
}

void add_dialects(CLI::App& app, gdn::DialectsCommand& dialects) {
  CLI::App* const command = app.add_subcommand(
      "dialects", "where presets differ, and the smallest cases that show it: docs/dialects.md");
  command->add_option("--json", dialects.json, "write every figure to this file");
  command->add_option("--summary", dialects.summary,
                      "replace the part 'dialects' of this document");
}

void add_export(CLI::App& app, gdn::ExportCommand& exported) {
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

void add_corpus(CLI::App& app, CorpusCommands& corpus) {
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
}

gdn::ExitStatus run_corpus(const CLI::App& command, const CorpusCommands& corpus) {
  if (command.got_subcommand("add")) return gdn::run_corpus_add(corpus.add);
  if (command.got_subcommand("minimise")) return gdn::run_corpus_minimise(corpus.minimise);
  if (command.got_subcommand("list")) return gdn::run_corpus_list(corpus.list);
  return gdn::run_corpus_stats(corpus.list);
}

// The options of every command.
struct Commands {
  gdn::VerifyCommand verify;
  gdn::CheckCommand check;
  gdn::ReplayCommand replay;
  gdn::TriageCommand triage;
  gdn::MatrixCommand matrix;
  gdn::LimitCommand limit;
  gdn::LongRunCommand long_run;
  gdn::StackRunCommand stack_run;
  gdn::OddsCommand odds;
  gdn::CompareCommand compare;
  gdn::ListCommand list;
  gdn::ExportCommand exported;
  gdn::DialectsCommand dialects;
  gdn::NightCommands night;
  CorpusCommands corpus;
};

void add_commands(CLI::App& app, const char* program, Commands& c) {
  c.verify.program = c.check.program = c.replay.program = c.triage.program = program;
  c.matrix.program = c.limit.program = c.odds.program = c.dialects.program = program;
  c.long_run.program = c.stack_run.program = program;
  c.night.panel.program = c.corpus.add.program = program;
  add_verify(app, c.verify);
  add_check(app, c.check);
  add_replay(app, c.replay);
  add_triage(app, c.triage);
  add_matrix(app, c.matrix);
  add_limit(app, c.limit);
  add_long_run(app, c.long_run);
  gdn::add_stack_run(app, c.stack_run);
  add_odds(app, c.odds);
  add_compare(app, c.compare);
  add_list(app, c.list);
  add_export(app, c.exported);
  add_dialects(app, c.dialects);
  gdn::add_night_commands(app, c.night);
  add_corpus(app, c.corpus);
  gdn::give_footers(app);
}

gdn::ExitStatus run_command(const CLI::App& app, const Commands& c) {
  if (app.got_subcommand("verify")) return gdn::run_verify(c.verify);
  if (app.got_subcommand("check")) return gdn::run_check(c.check);
  if (app.got_subcommand("replay")) return gdn::run_replay(c.replay);
  if (app.got_subcommand("triage")) return gdn::run_triage(c.triage);
  if (app.got_subcommand("matrix")) {
    return c.matrix.kernel_mutants ? gdn::run_kernel_matrix(c.matrix) : gdn::run_matrix(c.matrix);
  }
  if (app.got_subcommand("limit")) return gdn::run_limit(c.limit);
  if (app.got_subcommand("long-run")) return gdn::run_long_run(c.long_run);
  if (app.got_subcommand("stack-run")) return gdn::run_stack_run(c.stack_run);
  if (app.got_subcommand("odds")) return gdn::run_odds(c.odds);
  if (app.got_subcommand("compare")) return gdn::run_compare(c.compare);
  if (app.got_subcommand("list")) return gdn::run_list(c.list);
  if (app.got_subcommand("export")) return gdn::run_export(c.exported);
  if (app.got_subcommand("dialects")) return gdn::run_dialects(c.dialects);
  if (app.got_subcommand("corpus")) return run_corpus(*app.get_subcommand("corpus"), c.corpus);
  return gdn::run_night_commands(app, c.night).value_or(gdn::exit_bad_input);
}

int run(int argc, char** argv) {
  CLI::App app{
      "deltaproof verifies Gated DeltaNet engines: is every number explainable by rounding, and "
      "if not, which operator is wrong?"};
  app.set_version_flag("--version", gdn::version_text());
  app.require_subcommand(1);
  // Before or after the command: it belongs to all that call engines.
  app.fallthrough();
  double call_seconds = gdn::call_seconds_max();
  app.add_option("--call-seconds", call_seconds,
                 "an engine hangs that does not come back from a call in this time; waiting for a "
                 "processor does not count")
      ->capture_default_str()
      ->check(between(0.1, 1e7));
  Commands commands;
  add_commands(app, argv[0], commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? gdn::exit_ok : gdn::exit_bad_input;
  }
  gdn::set_call_seconds_max(call_seconds);
  return run_command(app, commands);
}

}  // namespace

int main(int argc, char** argv) {
  // What one case gives back the next one takes: the system need not be asked each time.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 30 << 20);
  // Nor are small pieces kept apart: each large allocation sweeps those.
  mallopt(M_MXFAST, 0);
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
