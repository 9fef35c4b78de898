// `deltaproof triage`: from what failed to the operator, the cause and the smallest case.
#include "ci/triage_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/interrupt.h"
#include "ci/judging.h"
#include "ci/processes.h"
#include "ci/supervised.h"
#include "ci/triage/bisect.h"
#include "ci/triage/diagnose_all.h"
#include "ci/triage/questions.h"
#include "ci/triage/report.h"
#include "ci/triage/scorecard.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

std::string why_not_asked_so(const TriageCommand& command) {
  if (command.mutants) {
    const bool of_cases = !command.paths.empty() || !command.engines.empty() ||
                          !command.invariants.empty() || !command.bisect.empty() ||
                          !command.markdown.empty();
    if (!command.summary.empty() && !command.of_mutant.empty()) {
      return "--summary takes all mutants, leave --mutant out";
    }
    return of_cases ? "--mutants takes no cases, and of the options --kernel-mutants, --mutant, "
                      "--seeds, --summary, --json, --jobs and --seconds alone"
                    : "";
  }
  if (command.kernel_mutants || !command.of_mutant.empty() || !command.seeds.empty() ||
      !command.summary.empty()) {
    return "--kernel-mutants, --mutant, --seeds and --summary belong to --mutants";
  }
  if (command.paths.empty()) return "expected cases, records or a folder of failures";
  if (command.invariants.size() > 1) return "--invariant: expected one";
  const bool searches =
      !command.repository.empty() || !command.build.empty() || !command.test.empty();
  if (searches && command.bisect.empty()) {
    return "--repository, --build and --test belong to --bisect";
  }
  return "";
}

// Each case on the engines that are asked for, else on that which it failed on, else on those that
// replay takes.
std::vector<FailingCase> on_engines(const TriageCommand& command,
                                    const std::vector<FailingCase>& read) {
  std::vector<FailingCase> all;
  for (const FailingCase& one : read) {
    std::vector<std::string> engines = command.engines;
    if (engines.empty() && !one.engine.empty()) engines = {one.engine};
    if (engines.empty()) engines = {"twin", "simt"};
    for (const std::string& engine : engines) {
      FailingCase asked = one;
      asked.engine = engine;
      if (!command.invariants.empty()) asked.invariant = command.invariants.front();
      const auto same = [&](const FailingCase& other) {
        return other.engine == asked.engine && other.invariant == asked.invariant &&
               print(other.c) == print(asked.c);
      };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(asked));
    }
  }
  return all;
}

ExitStatus find_asked(const TriageCommand& command, const std::vector<FailingCase>& failing,
                      std::vector<CaseAsked>& asked) {
  std::map<std::string, EngineSource> engines;
  for (const FailingCase& one : failing) {
    if (!engines.contains(one.engine)) {
      EnginesHere found;
      const ExitStatus status = find_engines({one.engine}, false, found,
                                             command.engines.empty() ? one.origin : "--engine");
      if (status != exit_ok) return status;
      engines.emplace(one.engine, found.engines.front());
    }
    std::vector<const Invariant*> invariants;
    if (!one.invariant.empty()) {
      const ExitStatus status = find_invariants(
          {one.invariant}, invariants, command.invariants.empty() ? one.origin : "--invariant");
      if (status != exit_ok) return status;
    }
    asked.push_back(
        {{one.c, one.engine, invariants.empty() ? nullptr : invariants.front(), one.origin},
         engines.at(one.engine)});
  }
  return exit_ok;
}

// The smallest case as a file, and the command that replays it.
ExitStatus save(const TriageCommand& command, Finding& finding) {
  if (finding.op.empty()) return exit_ok;
  std::error_code error;
  std::filesystem::create_directories(command.out, error);
  const std::string path = fmt::format("{}/triage_{}.case", command.out, hash8(finding.smallest));
  std::vector<std::string> comments = {title_of(finding), finding.verdict.detail};
  if (!finding.invariant.empty()) {
    comments.insert(comments.begin(),
                    fmt::format("{}: {} on {}: {}", name_of(finding.verdict.outcome),
                                finding.invariant, finding.engine, finding.verdict.detail));
    comments.pop_back();
    finding.replay =
        fmt::format("{} replay {} --invariant {} --engine {}", shell_word(command.program),
                    shell_word(path), finding.invariant, shell_word(finding.engine));
  } else {
    finding.replay = fmt::format("{} triage {} --engine {}", shell_word(command.program),
                                 shell_word(path), shell_word(finding.engine));
  }
  comments.push_back(finding.replay);
  const std::string why = write_whole(path, commented(finding.smallest, comments));
  return why.empty() ? exit_ok : refuse(why, exit_infrastructure);
}

// An engine that is a file is found from a worktree too.
std::string from_anywhere(const std::string& engine) {
  const bool is_path = engine.find('/') != std::string::npos || engine.ends_with(".so");
  return is_path ? std::filesystem::absolute(engine).string() : engine;
}

ExitStatus find_first_bad(const TriageCommand& command, Finding& finding) {
  const std::string path = std::filesystem::absolute(
      fmt::format("{}/triage_{}.case", command.out, hash8(finding.smallest)));
  const std::string engine = from_anywhere(finding.engine);
  Bisection search;
  if (!command.repository.empty()) search.repository = command.repository;
  search.range = command.bisect;
  search.build = command.build;
  if (search.build.empty()) {
    search.build = "cmake --preset dev && cmake --build --preset dev --target deltaproof";
  }
  search.test = command.test;
  if (search.test.empty()) {
    search.test = fmt::format("build/dev/deltaproof replay {} --engine {}", shell_word(path),
                              shell_word(engine));
    if (!finding.invariant.empty()) search.test += " --invariant " + finding.invariant;
  }
  search.variables = {{"DELTAPROOF_CASE", path},
                      {"DELTAPROOF_ENGINE", engine},
                      {"DELTAPROOF_INVARIANT", finding.invariant}};
  if (finding.verdict.outcome == Outcome::engine_error) {
    search.bad_statuses.insert(exit_engine_failed);
  }
  const Bisected found = bisect(search);
  for (const std::string& commit : found.bad) {
    finding.first_bad += (finding.first_bad.empty() ? "" : ", or ") + commit;
  }
  return found.status;
}

std::string command_of(const TriageCommand& command) {
  std::string text = shell_word(command.program) + " triage";
  for (const std::string& path : command.paths) text += " " + shell_word(path);
  for (const std::string& engine : command.engines) text += " --engine " + shell_word(engine);
  for (const std::string& name : command.invariants) text += " --invariant " + shell_word(name);
  if (command.mutants) text += " --mutants";
  if (command.kernel_mutants) text += " --kernel-mutants";
  for (const std::string& name : command.of_mutant) text += " --mutant " + shell_word(name);
  if (!command.seeds.empty()) text += " --seeds " + shell_word(command.seeds);
  if (!command.summary.empty()) text += " --summary " + shell_word(command.summary);
  if (!command.bisect.empty()) text += " --bisect " + shell_word(command.bisect);
  return text;
}

ExitStatus triage_cases(const TriageCommand& command, Doing& now) {
  std::vector<FailingCase> read;
  for (const std::string& path : command.paths) {
    const ExitStatus status = read_questions(path, read);
    if (status != exit_ok) return status;
  }
  now.enter(Doing::Whose::engine, "loading the engines");
  std::vector<CaseAsked> asked;
  ExitStatus status = find_asked(command, on_engines(command, read), asked);
  if (status != exit_ok) return status;
  now.enter(Doing::Whose::ours, "looking for what is wrong");
  TriageReport report;
  report.command = command_of(command);
  report.version = version_text();
  for (const CaseAsked& one : asked) {
    const Description& d = one.engine.description;
    report.engines[one.engine.name] =
        fmt::format("dialect {}, contract {}", d.dialect.name, d.contract.name);
  }
  const Diagnosing how = {command.jobs > 0 ? command.jobs : processes_here(),
                          static_cast<double>(command.seconds)};
  report.findings = diagnose_all(asked, how);
  if (asked_to_end()) {
    std::erase_if(report.findings, [](const Finding& finding) { return finding.engine.empty(); });
    status = refuse("interrupted: what was found until then is told", exit_infrastructure);
  }
  for (Finding& finding : report.findings) {
    status = combined(status, save(command, finding));
    if (command.bisect.empty() || finding.op.empty()) continue;
    const ExitStatus searched = find_first_bad(command, finding);
    if (searched == exit_bad_input) return searched;
    status = combined(status, searched);
  }
  to_terminal("{}", as_text(report));
  const auto write = [&](const std::string& path, const std::string& content) {
    const std::string why = path.empty() ? "" : write_whole(path, content);
    if (!why.empty()) status = combined(status, refuse(why, exit_infrastructure));
  };
  write(command.json, as_json(report));
  write(command.markdown, as_markdown(report));
  return combined(status_of(report), status);
}

ExitStatus triage_mutants(const TriageCommand& command, Doing& now) {
  now.enter(Doing::Whose::ours, "judging the mutants");
  Scorecard scorecard;
  scorecard.command = command_of(command);
  ExitStatus status = score(command, scorecard);
  if (status != exit_ok) return status;
  to_terminal("{}", as_text(scorecard));
  const auto said = [&](const std::string& why) {
    if (!why.empty()) status = combined(status, refuse(why, exit_infrastructure));
  };
  if (!command.json.empty()) said(write_whole(command.json, as_json(scorecard)));
  if (!command.summary.empty()) {
    said(replace_part(command.summary, scorecard_part(command), as_markdown(scorecard)));
  }
  const bool any = std::any_of(scorecard.rows.begin(), scorecard.rows.end(),
                               [](const Scored& row) { return row.is_killed(); });
  return combined(any ? exit_ok : exit_fails, status);
}

// Empty, or why cases cannot be saved there. Leaves nothing behind.
std::string why_not_saved_in(const std::string& folder) {
  std::error_code error;
  const bool is_made = std::filesystem::create_directories(folder, error);
  const std::string why = why_not_writable(folder + "/triage.case");
  if (is_made) std::filesystem::remove(folder, error);
  return why;
}

ExitStatus triage_all(const TriageCommand& command, Doing& now) {
  const std::string why_not = why_not_asked_so(command);
  if (!why_not.empty()) return refuse(why_not, exit_bad_input);
  std::vector<std::string> inputs = command.paths;
  inputs.insert(inputs.end(), command.engines.begin(), command.engines.end());
  inputs.push_back(command.seeds);
  const std::string in_the_way =
      why_results_in_the_way({command.json, command.markdown, command.summary}, inputs);
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable = why_results_not_writable({command.json, command.markdown},
                                                          command.summary, scorecard_part(command));
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  if (command.mutants) return triage_mutants(command, now);
  const std::string why_not_saved = why_not_saved_in(command.out);
  if (!why_not_saved.empty()) return refuse(why_not_saved, exit_infrastructure);
  end_early_on_signals();
  return triage_cases(command, now);
}

}  // namespace

ExitStatus run_triage(const TriageCommand& command) {
  return supervised([&](Doing& now) { return triage_all(command, now); });
}

}  // namespace gdn
