// `deltaproof matrix --kernel-mutants`: each mutant of the kernels judged by every invariant on the
// seeds, and where it survives them on cases that are drawn. An edit may make a loop endless or end
// the process: both are the mutant's death and not the command's.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "ci/asked_mutants.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/processes.h"
#include "ci/supervised.h"

namespace gdn {
namespace {

// Ten times what all verdicts on the slowest seed take on a right engine.
constexpr double verdict_seconds_max = 40;

// One case after the other, each under all invariants: a step is a case's place in the order of its
// mutant, and an invariant's place in the turn.
struct Plan {
  std::vector<KernelMutant> mutants;
  std::vector<CaseFile> cases;             // seeds, then drawn
  std::vector<std::vector<size_t>> order;  // [mutant], of the cases
  std::vector<const Invariant*> turn;
  size_t seeds = 0;
  bool until_killed = false;

  size_t step(size_t place, size_t invariant) const { return place * turn.size() + invariant; }
  const CaseFile& case_of(size_t mutant, size_t step) const {
    return cases[order[mutant][step / turn.size()]];
  }
  const Invariant& invariant_of(size_t step) const { return *turn[step % turn.size()]; }
};

// Equal bits last: that says least of how wrong they are.
std::vector<const Invariant*> invariants_in_turn() {
  std::vector<const Invariant*> turn;
  for (const Invariant& invariant : registry()) turn.push_back(&invariant);
  std::stable_partition(turn.begin(), turn.end(), [](const Invariant* invariant) {
    return invariant->name != same_bits_invariant;
  });
  return turn;
}

Verdict judged(Channel& channel, size_t step, const Invariant& invariant, const Case& c,
               const Lab& lab) {
  channel.begin(step);
  Verdict verdict = judge_one(invariant, c, lab);
  channel.put(fmt::format("{}{}", static_cast<int>(verdict.outcome), verdict.detail));
  return verdict;
}

// Each invariant up to the first case on which it kills. `fate` is what an earlier process on this
// mutant, which is gone, came to.
void judge_mutant(const Plan& plan, size_t task, size_t first, const MutantFate& fate,
                  Channel& channel) {
  std::set<std::string> killers;
  for (const Death& death : fate.deaths) {
    if (death.cause == Death::Cause::hangs) return;
    killers.insert(death.invariant);
  }
  const Lab lab(plan.mutants[task].engine);
  for (size_t place = first / plan.turn.size(); place < plan.cases.size(); ++place) {
    const bool is_drawn = place >= plan.seeds;
    if (is_drawn && !killers.empty()) return;
    const Case& c = plan.cases[plan.order[task][place]].content;
    for (size_t i = 0; i < plan.turn.size(); ++i) {
      if (plan.until_killed && !killers.empty()) return;
      const Invariant& invariant = *plan.turn[i];
      const size_t step = plan.step(place, i);
      if (step < first || killers.contains(invariant.name) || !invariant.claim.applies(c)) continue;
      if (is_drawn && !asked(invariant, c)) continue;
      const Outcome outcome = judged(channel, step, invariant, c, lab).outcome;
      const bool kills = outcome == Outcome::fails || outcome == Outcome::engine_error;
      if (kills) killers.insert(invariant.name);
    }
  }
}

// What nothing kills is judged longest: begun last, all would wait for it.
std::vector<size_t> longest_first(const Plan& plan) {
  std::vector<size_t> queue(plan.mutants.size());
  std::iota(queue.begin(), queue.end(), size_t{0});
  std::stable_partition(queue.begin(), queue.end(), [&plan](size_t mutant) {
    return !plan.mutants[mutant].edit.equivalent.empty();
  });
  return queue;
}

void judge_all(const MatrixCommand& command, const Plan& plan, Fates& fates) {
  const std::vector<size_t> queue = longest_first(plan);
  const auto died = [&](size_t task, size_t step, Death::Cause cause, std::string detail) {
    const size_t mutant = queue[task];
    fates.all[mutant].deaths.push_back(
        {cause, plan.invariant_of(step).name, plan.case_of(mutant, step).path, std::move(detail)});
  };
  Work work;
  work.tasks = plan.mutants.size();
  work.step_seconds_max = verdict_seconds_max;
  work.run = [&](size_t task, size_t first, Channel& channel) {
    judge_mutant(plan, queue[task], first, fates.all[queue[task]], channel);
  };
  work.result = [&](size_t task, size_t step, std::string_view result) {
    const auto outcome = static_cast<Outcome>(result[0] - '0');
    fates.all[queue[task]].verdicts += outcome != Outcome::not_applicable;
    const std::string detail(result.substr(1));
    if (outcome == Outcome::fails) died(task, step, Death::Cause::fails, detail);
    if (outcome == Outcome::engine_error) died(task, step, Death::Cause::engine_error, detail);
  };
  work.crashed = [&](size_t task, size_t step, const std::string& how) {
    died(task, step, Death::Cause::crash, how);
  };
  work.hung = [&](size_t task, size_t step, const std::string& how) {
    died(task, step, Death::Cause::hangs, how);
  };
  size_t done = 0;
  work.done = [&](size_t task) {
    const MutantFate& fate = fates.all[queue[task]];
    fmt::print(stderr, "deltaproof: {} of {} mutants, {}: {}\n", ++done, work.tasks, fate.edit.name,
               fate.killed()                   ? "killed"
               : !fate.edit.equivalent.empty() ? "equivalent"
                                               : "alive");
  };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
}

ExitStatus read_cases(const MatrixCommand& command, Plan& plan) {
  ExitStatus status = exit_ok;
  if (!command.drawn_only) status = read_seeds(command.seeds, plan.cases);
  plan.seeds = plan.cases.size();
  return status == exit_ok ? add_drawn(command.seed, command.cases, plan.cases) : status;
}

std::string command_line(const MatrixCommand& command) {
  std::string line = shell_word(command.program) + " matrix --kernel-mutants";
  for (const std::string& name : command.mutants) line += " --mutant " + shell_word(name);
  if (!command.seeds.empty()) line += " --seeds " + shell_word(command.seeds);
  if (command.cases > 0) line += fmt::format(" --cases {}", command.cases);
  if (!command.seed.empty()) line += " --seed " + shell_word(command.seed);
  if (command.drawn_only) line += " --drawn-only";
  if (command.until_killed) line += " --until-killed";
  if (!command.summary.empty()) line += " --summary " + shell_word(command.summary);
  return line;
}

ExitStatus kernel_matrix(const MatrixCommand& command, Doing& now) {
  if (!command.summary.empty() && !command.mutants.empty()) {
    return refuse("--summary takes all mutants, leave --mutant out", exit_bad_input);
  }
  const std::string in_the_way =
      why_results_in_the_way({command.json, command.summary}, {command.seeds});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  now.enter(Doing::Whose::ours, "judging the mutants of the kernels");
  Plan plan;
  plan.until_killed = command.until_killed;
  ExitStatus status = read_cases(command, plan);
  if (status == exit_ok) status = find_kernel_mutants(command.mutants, plan.mutants);
  if (status != exit_ok) return status;
  const std::string unwritable =
      why_results_not_writable({command.json}, command.summary, kernel_mutants_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  for (const KernelMutant& mutant : plan.mutants) {
    plan.order.push_back(order_for(mutant.edit, plan.cases, plan.seeds));
  }
  plan.turn = invariants_in_turn();
  Fates fates = {command_line(command),          version_text(),    plan.seeds,
                 plan.cases.size() - plan.seeds, plan.until_killed, {}};
  for (const KernelMutant& mutant : plan.mutants) fates.all.push_back({mutant.edit, {}, 0});
  judge_all(command, plan, fates);

  to_terminal("{}", as_text(fates));
  ExitStatus written = exit_ok;
  const auto said = [&](const std::string& why) {
    if (!why.empty()) written = refuse(why, exit_infrastructure);
  };
  if (!command.json.empty()) said(write_whole(command.json, as_json(fates)));
  if (!command.summary.empty()) {
    said(replace_part(command.summary, kernel_mutants_part, as_markdown(fates)));
  }
  return combined(problems_of(fates).empty() ? exit_ok : exit_fails, written);
}

}  // namespace

ExitStatus run_kernel_matrix(const MatrixCommand& command) {
  return supervised([&](Doing& now) { return kernel_matrix(command, now); });
}

}  // namespace gdn
