// A mutant a task: judged up to the first failure, then triaged in the same process.
#include "ci/triage/scorecard.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <numeric>

#include "ci/asked_mutants.h"
#include "ci/commands.h"
#include "ci/judging.h"
#include "ci/kernel_mutants/kernel_mutants.h"
#include "ci/processes.h"
#include "ci/triage/diagnose.h"
#include "ci/triage/finding_json.h"
#include "ci/triage/smallest.h"

namespace gdn {
namespace {

struct Killed {
  size_t case_index = 0, invariant = 0;
};

// Steps go through the cases, and in each through the invariants; the one after the last is triage.
struct Task {
  const EngineSource& engine;
  const std::vector<CaseFile>& cases;
  const std::vector<size_t>& order;  // of the cases

  const CaseFile& case_at(size_t place) const { return cases[order[place]]; }
  size_t triage_step() const { return cases.size() * registry().size(); }

  std::optional<Killed> judge(const Lab& lab, Channel& channel) const {
    for (size_t k = 0; k < cases.size(); ++k) {
      for (size_t i = 0; i < registry().size(); ++i) {
        if (!registry()[i].claim.applies(case_at(k).content)) continue;
        channel.begin(k * registry().size() + i);
        const Verdict verdict = judge_one(registry()[i], case_at(k).content, lab);
        channel.put("");
        if (verdict.outcome >= Outcome::engine_error) return Killed{k, i};
      }
    }
    return std::nullopt;
  }

  void run(size_t first, Channel& channel) const {
    // The process before this one was taken by the mutant.
    if (first > 0) return;
    const Lab lab(engine);
    const std::optional<Killed> killed = judge(lab, channel);
    if (!killed) return;
    channel.begin(triage_step());
    Question question;
    question.c = case_at(killed->case_index).content;
    question.engine = engine.name;
    question.invariant = &registry()[killed->invariant];
    question.origin = case_at(killed->case_index).path;
    const auto start = std::chrono::steady_clock::now();
    const Finding finding = diagnose(question, lab);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const nlohmann::ordered_json result = {{"finding", json_of(finding)},
                                           {"seconds", taken.count()},
                                           {"killed_by", question.invariant->name},
                                           {"on", question.origin}};
    channel.put(result.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
};

void take(std::string_view bytes, Scored& row) {
  if (bytes.empty()) return;
  const auto json = nlohmann::ordered_json::parse(bytes);
  row.finding = finding_of(json.at("finding"));
  row.seconds = json.at("seconds");
  row.killed_by = json.at("killed_by");
  row.on = json.at("on");
}

void take_crash(size_t step, const std::string& how, const Task& task, Scored& row) {
  const CaseFile& file = task.case_at(std::min(step / registry().size(), task.cases.size() - 1));
  row.on = file.path;
  row.killed_by = registry()[step % registry().size()].name;
  row.finding.smallest = file.content;
  row.finding.op = host;
  row.finding.crashed = true;
  row.finding.verdict.outcome = Outcome::engine_error;
  row.finding.verdict.detail = how;
}

ExitStatus find_kernel_engines(const TriageCommand& command, const std::vector<CaseFile>& cases,
                               std::vector<EngineSource>& engines,
                               std::vector<std::vector<size_t>>& orders, Scorecard& scorecard) {
  std::vector<KernelMutant> mutants;
  const ExitStatus status = find_kernel_mutants(command.of_mutant, mutants);
  for (KernelMutant& mutant : mutants) {
    Scored& row = scorecard.rows.emplace_back();
    row.mutant = mutant.edit.name;
    row.op = mutant.edit.op;
    row.is_equivalent = !mutant.edit.equivalent.empty();
    engines.push_back(std::move(mutant.engine));
    orders.push_back(order_for(mutant.edit, cases, cases.size()));
  }
  return status;
}

ExitStatus find_engines_of(const TriageCommand& command, const std::vector<CaseFile>& cases,
                           std::vector<EngineSource>& engines,
                           std::vector<std::vector<size_t>>& orders, Scorecard& scorecard) {
  if (command.kernel_mutants) {
    return find_kernel_engines(command, cases, engines, orders, scorecard);
  }
  std::vector<size_t> as_they_are(cases.size());
  std::iota(as_they_are.begin(), as_they_are.end(), size_t{0});
  std::vector<std::string> names = command.of_mutant;
  const ExitStatus status = find_mutants(names, engines);
  for (const std::string& name : names) {
    Scored& row = scorecard.rows.emplace_back();
    row.mutant = name;
    orders.push_back(as_they_are);
    for (size_t i = 0; i < gdn_mutant_count(); ++i) {
      if (gdn_mutant_at(i)->name == name) row.op = gdn_mutant_at(i)->op;
    }
  }
  return status;
}

}  // namespace

const char* scorecard_part(const TriageCommand& command) {
  return command.kernel_mutants ? "triage of kernel mutants" : "triage";
}

bool Scored::is_operator_right() const { return is_killed() && finding.op == op; }

ExitStatus score(const TriageCommand& command, Scorecard& scorecard) {
  std::vector<CaseFile> cases;
  std::vector<EngineSource> engines;
  ExitStatus status = read_seeds(command.seeds, cases);
  std::vector<std::vector<size_t>> orders;
  if (status == exit_ok) status = find_engines_of(command, cases, engines, orders, scorecard);
  if (status != exit_ok) return status;
  scorecard.version = version_text();
  scorecard.of_kernels = command.kernel_mutants;
  Work work;
  work.tasks = engines.size();
  const auto task = [&](size_t index) { return Task{engines[index], cases, orders[index]}; };
  work.step_seconds_max = command.seconds;
  work.hung = [&](size_t index, size_t step, const std::string& how) {
    take_crash(step, how, task(index), scorecard.rows[index]);
  };
  work.run = [&](size_t index, size_t first, Channel& channel) {
    if (!scorecard.rows[index].is_equivalent) task(index).run(first, channel);
  };
  work.result = [&](size_t index, size_t, std::string_view bytes) {
    take(bytes, scorecard.rows[index]);
  };
  work.crashed = [&](size_t index, size_t step, const std::string& how) {
    take_crash(step, how, task(index), scorecard.rows[index]);
  };
  size_t done = 0;
  work.done = [&](size_t index) {
    const Scored& row = scorecard.rows[index];
    fmt::print(stderr, "deltaproof: {} of {} mutants, {}: {}\n", ++done, engines.size(), row.mutant,
               row.is_equivalent ? "equivalent"
               : row.is_killed() ? row.finding.op
                                 : "nothing kills it");
  };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
  return exit_ok;
}

}  // namespace gdn
