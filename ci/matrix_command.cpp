// `deltaproof matrix`: every mutant judged by every invariant, up to the first case that kills it;
// or case by case, up to the first that any invariant kills it on.
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>

#include "ci/asked_mutants.h"
#include "ci/catalogue.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/processes.h"
#include "ci/public_rules_table.h"
#include "ci/supervised.h"
#include "ci/survivors.h"

namespace gdn {
namespace {

// The seeds by what they cost, then the cases that were drawn.
struct Cases {
  std::vector<CaseFile> all;

  size_t steps_before(size_t invariant) const { return invariant * all.size(); }
};

ExitStatus read_cases(const MatrixCommand& command, Cases& cases, KillMatrix& matrix) {
  ExitStatus status = exit_ok;
  if (!command.drawn_only) status = read_seeds(command.seeds, cases.all);
  matrix.seeds = cases.all.size();
  if (status == exit_ok) status = add_drawn(command.seed, command.cases, cases.all);
  matrix.drawn = cases.all.size() - matrix.seeds;
  return status;
}

ExitStatus find_engines_of(const MatrixCommand& command, std::vector<EngineSource>& engines,
                           KillMatrix& matrix) {
  matrix.mutants = command.mutants;
  const ExitStatus status = find_mutants(matrix.mutants, engines);
  matrix.cells.assign(matrix.mutants.size(), std::vector<Cell>(registry().size()));
  return status;
}

using Run = std::function<void(size_t task, size_t first, Channel&)>;
using Noted =
    std::function<void(size_t task, size_t step, Outcome outcome, std::string_view detail)>;

void put(Channel& channel, const Verdict& verdict) {
  channel.put(fmt::format("{}{}", static_cast<int>(verdict.outcome), verdict.detail));
}

// Shares mutants out; each verdict that `run` puts is noted, and a crash as an engine's error. Once
// a mutant is done, a line of progress with what `told` says of it.
void judge_each(const MatrixCommand& command, size_t mutants, const Run& run, const Noted& noted,
                const std::function<std::string(size_t task)>& told) {
  Work work;
  work.tasks = mutants;
  work.run = run;
  work.result = [&](size_t task, size_t step, std::string_view result) {
    noted(task, step, static_cast<Outcome>(result[0] - '0'), result.substr(1));
  };
  work.crashed = [&](size_t task, size_t step, const std::string& how) {
    noted(task, step, Outcome::engine_error, how);
  };
  size_t done = 0;
  work.done = [&](size_t task) {
    fmt::print(stderr, "deltaproof: {} of {} mutants, {}\n", ++done, mutants, told(task));
  };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
}

void judge_mutant(const EngineSource& engine, const std::vector<Cell>& known, const Cases& cases,
                  size_t first, Channel& channel) {
  const Lab lab(engine);
  for (size_t i = first / cases.all.size(); i < registry().size(); ++i) {
    if (known[i].is_of_before) continue;
    const Invariant& invariant = registry()[i];
    for (size_t k = 0; k < cases.all.size(); ++k) {
      const size_t step = cases.steps_before(i) + k;
      const Case& c = cases.all[k].content;
      if (step < first || !invariant.claim.applies(c)) continue;
      channel.begin(step);
      const Verdict verdict = judge_one(invariant, c, lab);
      put(channel, verdict);
      if (verdict.outcome == Outcome::fails) break;
    }
  }
}

// A failure outweighs an error, and that what holds; of equals the first is kept.
void note(Cell& cell, Outcome outcome, const std::string& on, std::string_view detail) {
  using Seen = Cell::Seen;
  const auto worse = [&](Seen seen) { cell = {seen, false, on, std::string(detail)}; };
  if (outcome == Outcome::fails && cell.seen != Seen::killed) return worse(Seen::killed);
  if (cell.seen == Seen::killed || cell.seen == Seen::engine_error) return;
  if (outcome == Outcome::engine_error) return worse(Seen::engine_error);
  if (outcome == Outcome::suspicious && cell.seen != Seen::suspected) return worse(Seen::suspected);
  if (cell.seen == Seen::suspected) return;
  if (outcome != Outcome::not_applicable) cell.seen = Seen::alive;
}

void judge_mutants(const MatrixCommand& command, const std::vector<EngineSource>& engines,
                   const Cases& cases, KillMatrix& matrix) {
  const auto noted = [&](size_t task, size_t step, Outcome outcome, std::string_view detail) {
    note(matrix.cells[task][step / cases.all.size()], outcome,
         cases.all[step % cases.all.size()].path, detail);
  };
  const std::vector<std::vector<Cell>> known = matrix.cells;
  judge_each(
      command, engines.size(),
      [&](size_t task, size_t first, Channel& channel) {
        judge_mutant(engines[task], known[task], cases, first, channel);
      },
      noted, [&](size_t task) { return matrix.mutants[task]; });
}

// Steps go through the cases, and in each through the invariants.
void judge_until_killed(const EngineSource& engine, const Cases& cases, size_t seeds, size_t first,
                        Channel& channel) {
  // It is not the first process on this task: the one before was killed by a case.
  if (first > 0) return;
  const Lab lab(engine);
  for (size_t k = 0; k < cases.all.size(); ++k) {
    const Case& c = cases.all[k].content;
    for (size_t i = 0; i < registry().size(); ++i) {
      const Invariant& invariant = registry()[i];
      if (!invariant.claim.applies(c) || (k >= seeds && !asked(invariant, c))) continue;
      channel.begin(k * registry().size() + i);
      const Verdict verdict = judge_one(invariant, c, lab);
      put(channel, verdict);
      if (verdict.outcome == Outcome::fails || verdict.outcome == Outcome::engine_error) return;
    }
  }
}

Survivors live_of(const MatrixCommand& command, const std::vector<EngineSource>& engines,
                  const Cases& cases, const KillMatrix& matrix) {
  Survivors survivors = {matrix.command, matrix.version, matrix.seeds, matrix.drawn, {}};
  for (const std::string& name : matrix.mutants) survivors.lives.emplace_back().mutant = name;
  const auto noted = [&](size_t task, size_t step, Outcome outcome, std::string_view detail) {
    MutantLife& life = survivors.lives[task];
    life.cases = step / registry().size() + 1;
    life.verdicts += outcome != Outcome::not_applicable;
    if (outcome != Outcome::fails && outcome != Outcome::engine_error) return;
    life.killed_by = registry()[step % registry().size()].name;
    life.on = cases.all[life.cases - 1].path;
    life.how = name_of(outcome);
    life.detail = detail;
  };
  judge_each(
      command, engines.size(),
      [&](size_t task, size_t first, Channel& channel) {
        judge_until_killed(engines[task], cases, matrix.seeds, first, channel);
      },
      noted,
      [&](size_t task) {
        MutantLife& life = survivors.lives[task];
        if (life.killed_by.empty()) life.cases = cases.all.size();
        return fmt::format("{}: {} cases, {}", life.mutant, life.cases,
                           life.killed_by.empty() ? "survives" : life.killed_by);
      });
  return survivors;
}

// That they are alive is an answer, not a failure; that nothing was judged is none.
ExitStatus survivors_of(const MatrixCommand& command, const std::vector<EngineSource>& engines,
                        const Cases& cases, const KillMatrix& matrix) {
  const Survivors survivors = live_of(command, engines, cases, matrix);
  to_terminal("{}", as_text(survivors));
  const std::string why = command.json.empty() ? "" : write_whole(command.json, as_json(survivors));
  if (!why.empty()) return refuse(why, exit_infrastructure);
  for (const MutantLife& life : survivors.lives) {
    if (life.verdicts == 0) return exit_fails;
  }
  return exit_ok;
}

// The rules on their own ranges and on the cases that the invariants were asked about.
RulesTable rules_beside(const MatrixCommand& command, const std::vector<EngineSource>& engines,
                        const Cases& cases, const KillMatrix& matrix) {
  std::string why;
  const std::optional<EngineSource> twin = find_engine("twin", &why);
  if (!twin) throw std::runtime_error(why);
  std::vector<RuledCase> others;
  const Lab right(*twin);
  for (const CaseFile& file : cases.all) {
    std::optional<RuledCase> one = ruled(file.path, file.content, right);
    if (one) others.push_back(*std::move(one));
  }
  std::vector<RuledMutant> mutants;
  for (size_t row = 0; row < engines.size(); ++row) {
    mutants.push_back({engines[row], mutant_named(matrix.mutants[row]).op});
  }
  RulesTable table = judge_by_rules(mutants, others, command.jobs);
  table.command = matrix.command;
  table.version = matrix.version;
  for (size_t row = 0; row < engines.size(); ++row) {
    table.rows[row].mutant = matrix.mutants[row];
    table.rows[row].invariants = kills_of(matrix, row);
  }
  return table;
}

std::string why_not_asked_so(const MatrixCommand& command) {
  if (!command.summary.empty() && !command.mutants.empty()) {
    return "--summary takes all mutants, leave --mutant out";
  }
  if (!command.summary.empty() && (command.until_killed || command.drawn_only)) {
    return "--summary takes every cell on the seeds, leave --until-killed and --drawn-only out";
  }
  if (!command.from.empty() && (command.until_killed || command.cases > 0)) {
    return "--from has every cell on the seeds, leave --until-killed and --cases out";
  }
  if (command.public_rules && command.until_killed) {
    return "--public-rules takes every cell, leave --until-killed out";
  }
  if (command.drawn_only && !command.seeds.empty()) return "--drawn-only takes no --seeds";
  if (command.drawn_only && command.cases == 0) return "--drawn-only needs --cases";
  return "";
}

ExitStatus written(const MatrixCommand& command, const KillMatrix& matrix,
                   const std::optional<RulesTable>& rules) {
  ExitStatus status = exit_ok;
  const auto said = [&](const std::string& why) {
    if (!why.empty()) status = refuse(why, exit_infrastructure);
  };
  if (!command.json.empty()) {
    const std::string json = as_json(matrix);
    said(write_whole(command.json, rules ? with_rules(json, *rules) : json));
  }
  if (!command.summary.empty()) {
    said(rules ? replace_part(command.summary, rules_part, as_markdown(*rules))
               : replace_part(command.summary, catalogue_part, catalogue_markdown(matrix)));
  }
  return status;
}

ExitStatus matrix_of(const MatrixCommand& command, Doing& now) {
  const std::string why_not = why_not_asked_so(command);
  if (!why_not.empty()) return refuse(why_not, exit_bad_input);
  const std::string in_the_way =
      why_results_in_the_way({command.json, command.summary}, {command.seeds, command.from});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  now.enter(Doing::Whose::ours, "judging the mutants");
  KillMatrix matrix;
  Cases cases;
  std::vector<EngineSource> engines;
  ExitStatus status = read_cases(command, cases, matrix);
  if (status == exit_ok) status = find_engines_of(command, engines, matrix);
  if (status != exit_ok) return status;
  std::string why;
  if (!command.from.empty() && !read_cells(command.from, matrix, &why)) {
    return refuse(why, exit_bad_input);
  }
  const std::string unwritable = why_results_not_writable(
      {command.json}, command.summary, command.public_rules ? rules_part : catalogue_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  matrix.version = version_text();
  matrix.command = shell_word(command.program) + " matrix";
  for (const std::string& name : command.mutants) matrix.command += " --mutant " + name;
  if (!command.seeds.empty()) matrix.command += " --seeds " + shell_word(command.seeds);
  if (command.cases > 0) matrix.command += fmt::format(" --cases {}", command.cases);
  if (!command.seed.empty()) matrix.command += " --seed " + shell_word(command.seed);
  if (command.drawn_only) matrix.command += " --drawn-only";
  if (command.until_killed) matrix.command += " --until-killed";
  if (!command.from.empty()) matrix.command += " --from " + shell_word(command.from);
  if (command.public_rules) matrix.command += " --public-rules";
  if (!command.summary.empty()) matrix.command += " --summary " + shell_word(command.summary);
  if (command.until_killed) return survivors_of(command, engines, cases, matrix);

  judge_mutants(command, engines, cases, matrix);
  to_terminal("{}", as_text(matrix));
  std::optional<RulesTable> rules;
  if (command.public_rules) {
    rules = rules_beside(command, engines, cases, matrix);
    to_terminal("\n{}", as_text(*rules));
  }
  return combined(problems_of(matrix).empty() ? exit_ok : exit_fails,
                  written(command, matrix, rules));
}

}  // namespace

ExitStatus run_matrix(const MatrixCommand& command) {
  return supervised([&](Doing& now) { return matrix_of(command, now); });
}

}  // namespace gdn
