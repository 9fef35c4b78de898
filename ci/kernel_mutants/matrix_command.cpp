// `deltaproof matrix --kernel-mutants`: each mutant of the kernels judged by every invariant on the
// seeds, and where it survives them on cases that are drawn. An edit may make a loop endless or end
// the process: both are the mutant's death and not the command's.
#include <fmt/format.h>

#include <cstdio>

#include "ci/case_files.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/processes.h"
#include "ci/supervised.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

// Of processor time. The longest verdict of a right engine on a seed takes about two.
constexpr double verdict_seconds_max = 40;

struct Plan {
  std::vector<KernelMutant> mutants;
  std::vector<CaseFile> cases;  // seeds, then drawn
  size_t seeds = 0;
  bool until_killed = false;

  // Steps: each invariant on all seeds, then each drawn case under all invariants.
  size_t step_on_seed(size_t invariant, size_t seed) const { return invariant * seeds + seed; }
  size_t step_on_drawn(size_t at, size_t invariant) const {
    return registry().size() * seeds + (at - seeds) * registry().size() + invariant;
  }
  size_t invariant_of(size_t step) const {
    const size_t on_seeds = registry().size() * seeds;
    return step < on_seeds ? step / seeds : (step - on_seeds) % registry().size();
  }
  const CaseFile& case_of(size_t step) const {
    const size_t on_seeds = registry().size() * seeds;
    return step < on_seeds ? cases[step % seeds]
                           : cases[seeds + (step - on_seeds) / registry().size()];
  }
};

bool kills(const Verdict& verdict) {
  return verdict.outcome == Outcome::fails || verdict.outcome == Outcome::engine_error;
}

Verdict judged(Channel& channel, size_t step, const Invariant& invariant, const Case& c,
               const Lab& lab) {
  channel.begin(step);
  Verdict verdict = judge_one(invariant, c, lab);
  channel.put(fmt::format("{}{}", static_cast<int>(verdict.outcome), verdict.detail));
  return verdict;
}

// `dead` is what an earlier process on this mutant came to, which is gone.
void judge_mutant(const Plan& plan, size_t task, size_t first, const Fate& dead, Channel& channel) {
  bool killed = dead.killed();
  const auto over = [&] {
    const bool hung = !dead.deaths.empty() && dead.deaths.back().cause == Death::Cause::hangs;
    return hung || (plan.until_killed && killed);
  };
  const Lab lab(plan.mutants[task].engine);
  for (size_t i = 0; i < registry().size() && !over(); ++i) {
    // The invariant during which the process before was lost has said what it saw.
    const bool seen = first > plan.step_on_seed(i, 0);
    for (size_t k = 0; k < plan.seeds && !seen; ++k) {
      const Case& c = plan.cases[k].content;
      if (!registry()[i].claim.applies(c)) continue;
      if (!kills(judged(channel, plan.step_on_seed(i, k), registry()[i], c, lab))) continue;
      killed = true;
      break;
    }
  }
  for (size_t k = plan.seeds; k < plan.cases.size() && !killed; ++k) {
    const Case& c = plan.cases[k].content;
    for (size_t i = 0; i < registry().size() && !killed; ++i) {
      if (!registry()[i].claim.applies(c) || !asked(registry()[i], c)) continue;
      killed = kills(judged(channel, plan.step_on_drawn(k, i), registry()[i], c, lab));
    }
  }
}

void judge_all(const MatrixCommand& command, const Plan& plan, Fates& fates) {
  const auto died = [&](size_t task, size_t step, Death::Cause cause, std::string detail) {
    fates.all[task].deaths.push_back({cause, registry()[plan.invariant_of(step)].name,
                                      plan.case_of(step).path, std::move(detail)});
  };
  Work work;
  work.tasks = plan.mutants.size();
  work.step_seconds_max = verdict_seconds_max;
  work.run = [&](size_t task, size_t first, Channel& channel) {
    judge_mutant(plan, task, first, fates.all[task], channel);
  };
  work.result = [&](size_t task, size_t step, std::string_view result) {
    const auto outcome = static_cast<Outcome>(result[0] - '0');
    fates.all[task].verdicts += outcome != Outcome::not_applicable;
    const std::string detail(result.substr(1));
    if (outcome == Outcome::fails) died(task, step, Death::Cause::fails, detail);
    if (outcome == Outcome::engine_error) died(task, step, Death::Cause::engine_error, detail);
  };
  work.crashed = [&](size_t task, size_t step, const std::string& how) {
    died(task, step, Death::Cause::crash, how);
  };
  work.hung = [&](size_t task, size_t step) {
    died(task, step, Death::Cause::hangs,
         fmt::format("no verdict after {} s of processor time", verdict_seconds_max));
  };
  size_t done = 0;
  work.done = [&](size_t task) {
    const Fate& fate = fates.all[task];
    fmt::print(stderr, "deltaproof: {} of {} mutants, {}: {}\n", ++done, work.tasks, fate.edit.name,
               fate.killed()                    ? "killed"
               : !fate.edit.equivalent.empty() ? "equivalent"
                                                : "alive");
  };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
}

ExitStatus read_cases(const MatrixCommand& command, Plan& plan) {
  std::string folder = command.seeds;
  if (folder.empty() && !find_corpus().empty()) folder = find_corpus() + "/seeds";
  std::string why = "there is no folder corpus here, give its seeds with --seeds";
  if (!command.drawn_only &&
      (folder.empty() || !read_cases_below(folder, plan.cases, &why))) {
    return refuse(why, exit_bad_input);
  }
  plan.seeds = plan.cases.size();
  const std::optional<uint64_t> seed = parse_seed(command.seed.empty() ? "1" : command.seed);
  if (!seed) {
    return refuse(fmt::format("--seed: expected a number below 2^64 or hexadecimal text, got '{}'",
                              command.seed),
                  exit_bad_input);
  }
  for (size_t i = 0; i < static_cast<size_t>(command.cases); ++i) {
    plan.cases.push_back({fmt::format("case {} of seed {}", i, *seed), draw_case(*seed, i)});
  }
  return exit_ok;
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
  if (!command.summary.empty() && (!command.mutants.empty() || command.until_killed)) {
    return refuse("--summary takes all mutants and every cell, leave --mutant and --until-killed out",
                  exit_bad_input);
  }
  now.enter(Doing::Whose::ours, "judging the mutants of the kernels");
  Plan plan;
  plan.until_killed = command.until_killed;
  ExitStatus status = read_cases(command, plan);
  if (status == exit_ok) status = find_kernel_mutants(command.mutants, plan.mutants);
  if (status != exit_ok) return status;
  for (const std::string& path : {command.json, command.summary}) {
    const std::string why = path.empty() ? "" : why_not_writable(path);
    if (!why.empty()) return refuse(why, exit_infrastructure);
  }
  Fates fates = {command_line(command),           version_text(),    plan.seeds,
                 plan.cases.size() - plan.seeds, plan.until_killed, {}};
  for (const KernelMutant& mutant : plan.mutants) fates.all.push_back({mutant.edit, {}, 0});
  judge_all(command, plan, fates);

  fmt::print("{}", as_text(fates));
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
