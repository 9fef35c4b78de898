// `deltaproof verify`: captures judged, and an engine run on the same weights and inputs.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/report.h"
#include "ci/supervised.h"
#include "invariants/harness/verify.h"

namespace gdn {
namespace {

constexpr const char* summary_part = "worst error/bound";

// NAME[,dimension=value]...; nothing and *why where it is no dialect.
std::optional<Dialect> parse_dialect(const std::string& text, std::string* why) {
  const auto part_end = [&](size_t from) { return std::min(text.find(',', from), text.size()); };
  size_t end = part_end(0);
  std::optional<Dialect> dialect = dialect_named(text.substr(0, end));
  if (!dialect) {
    *why = fmt::format("--dialect: '{}' is not one of", text.substr(0, end));
    for (const std::string_view name : dialect_names()) *why += fmt::format(" {}", name);
    return std::nullopt;
  }
  while (end < text.size()) {
    const size_t begin = end + 1;
    end = part_end(begin);
    const std::string part = text.substr(begin, end - begin);
    const size_t equals = part.find('=');
    *why = equals == std::string::npos
               ? fmt::format("'{}' is not of the form dimension=value", part)
               : set_dimension(*dialect, part.substr(0, equals), part.substr(equals + 1));
    if (!why->empty()) {
      *why = "--dialect: " + *why;
      return std::nullopt;
    }
  }
  return dialect;
}

std::string command_for(const VerifyCommand& command, const std::vector<std::string>& files) {
  std::string text = shell_word(command.program) + " verify";
  for (const std::string& file : files) text += " " + shell_word(file);
  text += " --engine " + shell_word(command.engine);
  if (!command.dialect.empty()) text += " --dialect " + shell_word(command.dialect);
  return text;
}

// One line on a terminal that is written over; nothing in a pipe.
void show_progress(const std::string& path, std::string_view doing, double done) {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  if (!terminal) return;
  fmt::print(stderr, "\r\033[K{}: {} {:.0f} %", visible(path), doing, done * 100);
  std::fflush(stderr);
}
void clear_progress() {
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");
}

// exit_infrastructure and a line where a result could not be written.
ExitStatus written_or_said(const std::string& why) {
  if (why.empty()) return exit_ok;
  return refuse(why, exit_infrastructure);
}

ExitStatus write_reports(const VerifyCommand& command, const std::vector<VerifyReport>& reports,
                         const RunFacts& facts) {
  ExitStatus status = exit_ok;
  if (!command.json.empty()) {
    status = written_or_said(write_whole(command.json, as_json(reports, facts)));
  }
  if (!command.markdown.empty()) {
    status = combined(status,
                      written_or_said(write_whole(command.markdown, as_markdown(reports, facts))));
  }
  return status;
}

ExitStatus write_summary(const VerifyCommand& command, const std::vector<VerifyReport>& reports,
                         const RunFacts& facts) {
  const std::string made =
      fmt::format("Written by {}.\n\n",
                  code_for_markdown(facts.command + " --summary " + shell_word(command.summary)));
  return written_or_said(
      replace_part(command.summary, summary_part, made + worst_by_operator(reports)));
}

// What the phases that verify_file reports mean for who is to blame if one ends the process.
Doing::Whose whose_is(std::string_view doing) {
  if (doing == "reading") return Doing::Whose::input_file;
  return doing.starts_with("engine") ? Doing::Whose::engine : Doing::Whose::ours;
}

// What a run has come to so far.
struct Run {
  const VerifyCommand& command;
  std::chrono::steady_clock::time_point start;
  std::vector<VerifyReport> reports;
  std::string bad_file;  // what is wrong with the file that ended it

  RunFacts facts() const {
    RunFacts known;
    known.command = command_for(command, command.files);
    known.engine = command.engine;
    known.version = version_text();
    known.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    known.complete = reports.size() == command.files.size();
    if (known.complete) return known;
    known.ended = bad_file;
    if (bad_file.empty()) {
      known.ended =
          fmt::format("{} of {} files were judged, and the run ended at {}", reports.size(),
                      command.files.size(), command.files[reports.size()]);
    }
    return known;
  }
};

// Judges the files in order up to the first that cannot be read. The reports are written anew after
// each: an engine that ends the process leaves what came before it, and not an earlier run's
// report.
ExitStatus judge_files(Run& run, VerifyOptions& options, Doing& now) {
  ExitStatus written = write_reports(run.command, run.reports, run.facts());
  for (const std::string& file : run.command.files) {
    options.progress = [&](std::string_view doing, double done) {
      now.enter(whose_is(doing), fmt::format("{}: {}", file, doing));
      show_progress(file, doing, done);
    };
    std::string why;
    std::optional<VerifyReport> report = verify_file(file, options, &why);
    clear_progress();
    now.enter(Doing::Whose::ours, "writing the reports");
    if (report) {
      to_terminal("{}{}", run.reports.empty() ? "" : "\n",
                  as_text(*report, command_for(run.command, {file})));
      std::fflush(stdout);
      run.reports.push_back(std::move(*report));
    } else {
      run.bad_file = why;
    }
    written = write_reports(run.command, run.reports, run.facts());
    if (!run.bad_file.empty()) break;
  }
  return written;
}

ExitStatus verify_all(const VerifyCommand& command, Doing& now) {
  std::vector<std::string> inputs = command.files;
  inputs.push_back(command.engine);
  std::string why =
      why_results_in_the_way({command.json, command.markdown, command.summary}, inputs);
  if (!why.empty()) return refuse(why, exit_bad_input);
  now.enter(Doing::Whose::engine, fmt::format("engine {}: loading", command.engine));
  const std::optional<EngineSource> engine = find_engine(command.engine, &why);
  if (!engine) return refuse("--engine: " + why, exit_bad_input);
  if (why = why_not_available(*engine); !why.empty()) {
    return refuse(fmt::format("engine {} is not available here: {}", visible(command.engine), why),
                  exit_infrastructure);
  }
  now.enter(Doing::Whose::ours, "setting up");
  const Lab lab(*engine);
  VerifyOptions options;
  options.lab = &lab;
  if (!command.dialect.empty()) {
    options.dialect = parse_dialect(command.dialect, &why);
    if (!options.dialect) return refuse(why, exit_bad_input);
  }
  const std::string unwritable =
      why_results_not_writable({command.json, command.markdown}, command.summary, summary_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);

  Run run{command, std::chrono::steady_clock::now(), {}, ""};
  ExitStatus written = judge_files(run, options, now);
  const RunFacts facts = run.facts();
  if (!run.reports.empty()) {
    to_terminal("\n{} in {} file{}, engine {}, {:.1f} s\n", counted(run.reports),
                run.reports.size(), run.reports.size() == 1 ? "" : "s", visible(command.engine),
                facts.seconds);
  }
  if (!command.summary.empty()) {
    written = combined(written, write_summary(command, run.reports, facts));
  }
  if (!run.bad_file.empty()) return refuse(run.bad_file, exit_bad_input);
  return combined(status_of(run.reports), written);
}

}  // namespace

ExitStatus run_verify(const VerifyCommand& command) {
  return supervised([&](Doing& now) { return verify_all(command, now); });
}

}  // namespace gdn
