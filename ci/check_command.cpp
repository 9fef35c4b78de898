// `deltaproof check`: drawn cases, and those of the corpus, judged by the invariants.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "ci/check_plan.h"
#include "ci/check_report.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/interrupt.h"
#include "ci/judging.h"
#include "ci/supervised.h"
#include "invariants/harness/record.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

// Of fewer, drawn without the corpus, no mix can promise that each invariant applies.
constexpr int64_t few_cases = 1000;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// On a terminal one line that is written over; else a line every ten seconds.
class Progress {
 public:
  void show(size_t judged, size_t of, size_t wrong) {
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (seconds_since(shown_) < (terminal ? 0.2 : 10)) return;
    shown_ = Clock::now();
    fmt::print(stderr, "{}{} of {} cases, {} verdicts that fail, {:.0f} s{}",
               terminal ? "\r\033[K" : "deltaproof: ", judged, of, wrong, seconds_since(start_),
               terminal ? "" : "\n");
    std::fflush(stderr);
  }
  ~Progress() {
    if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");
  }

 private:
  Clock::time_point start_ = Clock::now(), shown_ = start_;
};

// One sample a case of which anything was decided. A claim that is about no number and fails is
// beyond any bound.
void add_ratio(RatioCounts& ratios, const Verdict& verdict) {
  const bool is_served =
      verdict.outcome != Outcome::not_applicable && verdict.outcome != Outcome::engine_error;
  if (!is_served || verdict.elements <= verdict.undecided) return;
  const bool has_no_ratio = verdict.outcome == Outcome::fails && verdict.worst_ratio <= 1;
  ratios.add(has_no_ratio ? infinity : verdict.worst_ratio);
}

// The verdicts of a run as they come in.
class Collected {
 public:
  Collected(const Plan& plan, CheckReport& report) : plan_(plan), report_(report) {
    for (const Invariant* invariant : plan.judging.invariants) {
      for (const EngineSource& engine : plan.judging.engines) {
        report.rows.push_back({invariant->name, engine.name, {}, 0, 0, {}});
      }
    }
    for (const std::string& regime : all_regimes()) report.regimes.emplace_back(regime, 0);
  }

  void take(size_t index, const std::vector<Answer>& judged) {
    const Case c = plan_.case_of(index);
    const bool drawn = index >= plan_.corpus.size();
    if (drawn) count_regimes(c);
    for (const Answer& one : judged) {
      CheckRow& row = report_.rows[one.invariant * plan_.judging.engines.size() + one.engine];
      row.tally.count(one.verdict.outcome);
      row.tensors += one.verdict.tensors;
      const bool not_served = one.verdict.outcome == Outcome::not_applicable;
      if (drawn && !not_served) {
        ++report_.drawn_verdicts;
        report_.drawn_undecided += one.verdict.outcome == Outcome::undecided;
      }
      if (!not_served) row.worst_ratio = std::max(row.worst_ratio, one.verdict.worst_ratio);
      add_ratio(row.ratios[c.subject], one.verdict);
      if (one.verdict.outcome >= Outcome::engine_error) keep(index, c, one, row);
    }
  }

  size_t wrong() const { return wrong_; }
  const std::string& records() const { return records_; }
  std::vector<Failing> failing;
  std::vector<size_t> found_at;  // indices of cases, one for each failing

 private:
  void count_regimes(const Case& c) {
    const std::vector<std::string> names = regimes_of(c);
    for (auto& [name, cases] : report_.regimes) {
      cases += static_cast<size_t>(std::count(names.begin(), names.end(), name));
    }
  }

  void keep(size_t index, const Case& c, const Answer& one, const CheckRow& row) {
    ++wrong_;
    records_ += record_line(row.engine, row.invariant, c, one.verdict) + "\n";
    size_t& saved = saved_[{one.invariant, one.engine}];
    if (saved == failures_saved_max) return;
    ++saved;
    failing.push_back(
        {c, one.engine, one.invariant, one.crashed, one.verdict, {}, 0, {}, one.hangs});
    found_at.push_back(index);
  }

  const Plan& plan_;
  CheckReport& report_;
  size_t wrong_ = 0;
  std::string records_;
  std::map<std::pair<size_t, size_t>, size_t> saved_;
};

// Can an engine of this run, or one beside it, make the invariant apply? If not, why.
std::string why_not_asked(const Claim& claim, const Plan& plan) {
  const auto among = [&](const std::string& name) {
    return std::any_of(plan.judging.engines.begin(), plan.judging.engines.end(),
                       [&](const EngineSource& engine) { return engine.name == name; });
  };
  if (!claim.judges.empty() && std::none_of(claim.judges.begin(), claim.judges.end(), among)) {
    return "it is about an engine that is not among these: " + claim.judges.front();
  }
  for (const std::string& name : claim.needs) {
    std::string why;
    const std::optional<EngineSource> engine = find_engine(name, &why);
    if (engine) why = why_not_here(*engine);
    if (!why.empty()) return fmt::format("it needs {} beside: {}", name, why);
  }
  return "";
}

// An engine that lacks a call, an operator of apply or an option, or computes by other conventions
// than the twin, may leave an invariant unasked by that.
bool partial(const EngineSource& engine) {
  std::string why;
  const std::optional<EngineSource> twin = find_engine("twin", &why);
  if (!twin) return false;
  const Description& all = twin->description;
  Description d = engine.description;
  d.dialect.name = all.dialect.name;
  return !calls_lacked(d).empty() || d.apply != all.apply || d.options != all.options ||
         !(d.dialect == all.dialect) || d.contract.recurrence != all.contract.recurrence ||
         d.contract.activation_bits != all.contract.activation_bits ||
         d.contract.q4_activation_bits != all.contract.q4_activation_bits;
}

void find_never_applied(const Plan& plan, CheckReport& report) {
  const size_t engines = plan.judging.engines.size();
  std::vector<CheckRow> rows;
  for (size_t i = 0; i < plan.judging.invariants.size(); ++i) {
    const Invariant& invariant = *plan.judging.invariants[i];
    size_t applied = 0;
    bool for_lack_of_calls = true;
    for (size_t e = 0; e < engines; ++e) {
      const CheckRow& row = report.rows[i * engines + e];
      applied += row.tally.judged();
      for_lack_of_calls &= row.tally.not_applicable > 0 && partial(plan.judging.engines[e]);
    }
    const std::string why = applied > 0         ? ""
                            : for_lack_of_calls ? "no engine serves what it asks for"
                                                : why_not_asked(invariant.claim, plan);
    if (!why.empty()) report.not_asked.push_back(invariant.name + ": " + why);
    if (applied == 0 && why.empty()) report.never_applied.push_back(invariant.name);
    if (!why.empty()) continue;
    for (size_t e = 0; e < engines; ++e) rows.push_back(report.rows[i * engines + e]);
  }
  report.rows = std::move(rows);
}

// The cases with how they came about; two engines may fail on the same one.
ExitStatus save(const std::vector<SavedFailure>& failures) {
  std::map<std::string, std::pair<const Case*, std::vector<std::string>>> files;
  for (const SavedFailure& failure : failures) {
    auto& [smallest, comments] = files[failure.file];
    smallest = &failure.smallest;
    comments.push_back(fmt::format("{}: {} on {}: {}", name_of(failure.verdict.outcome),
                                   failure.invariant, failure.engine, failure.verdict.detail));
    comments.push_back(
        fmt::format("Found by {}, made smaller in {} steps.", failure.origin, failure.steps));
    comments.push_back(failure.replay);
  }
  for (const auto& [path, file] : files) {
    const std::string why = write_whole(path, commented(*file.first, file.second));
    if (!why.empty()) return refuse(why, exit_infrastructure);
  }
  return exit_ok;
}

ExitStatus save_failures(const CheckCommand& command, const Plan& plan, Collected& collected,
                         CheckReport& report) {
  const std::string records = command.out + "/failures.jsonl";
  std::error_code error;
  if (collected.failing.empty()) {
    // An earlier run's would be taken for this one's.
    std::filesystem::remove(records, error);
    return exit_ok;
  }
  std::filesystem::create_directories(command.out, error);
  if (error) {
    return refuse(fmt::format("{}: cannot be made: {}", command.out, error.message()),
                  exit_infrastructure);
  }
  make_small(plan.judging, collected.failing);
  for (size_t i = 0; i < collected.failing.size(); ++i) {
    const Failing& one = collected.failing[i];
    SavedFailure saved;
    saved.invariant = plan.judging.invariants[one.invariant]->name;
    saved.engine = plan.judging.engines[one.engine].name;
    saved.verdict = one.verdict;
    saved.indices = {collected.found_at[i]};
    saved.origin = plan.origin(collected.found_at[i]);
    saved.steps = one.steps;
    saved.smallest = one.smallest;
    saved.file = fmt::format("{}/{}_{}.case", command.out, saved.invariant, hash8(one.smallest));
    saved.replay =
        fmt::format("{} replay {} --invariant {} --engine {}", shell_word(command.program),
                    shell_word(saved.file), saved.invariant, shell_word(saved.engine));
    const auto same_file = [&](const SavedFailure& other) {
      return other.file == saved.file && other.engine == saved.engine;
    };
    // Two cases that lead to one small case are one failure to look at.
    const auto known = std::find_if(report.failures.begin(), report.failures.end(), same_file);
    if (known == report.failures.end()) {
      report.failures.push_back(std::move(saved));
    } else {
      known->indices.push_back(collected.found_at[i]);
    }
  }
  const ExitStatus saved = save(report.failures);
  const std::string why = write_whole(records, collected.records());
  return combined(saved, why.empty() ? exit_ok : refuse(why, exit_infrastructure));
}

ExitStatus check_all(const CheckCommand& command, Doing& now) {
  std::vector<std::string> inputs = command.engines;
  inputs.push_back(command.corpus);
  const std::string in_the_way = why_results_in_the_way({command.json, command.markdown}, inputs);
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  Plan plan;
  now.enter(Doing::Whose::engine, "loading the engines");
  const ExitStatus planned = make_plan(command, plan);
  if (planned != exit_ok) return planned;
  now.enter(Doing::Whose::ours, "judging");
  const std::string unwritable = why_results_not_writable({command.json, command.markdown});
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);

  end_early_on_signals();
  CheckReport report;
  Collected collected(plan, report);
  const Clock::time_point start = Clock::now();
  const size_t cases = plan.places();
  size_t judged = 0;
  {
    Progress progress;
    judged = judge(
        plan.judging, cases,
        [&](size_t) {
          return asked_to_end() || (command.seconds > 0 && seconds_since(start) >= command.seconds);
        },
        [&](size_t place, const std::vector<Answer>& verdicts) {
          collected.take(plan.index_at(place), verdicts);
          progress.show(place + 1, cases, collected.wrong());
        });
  }
  while (report.corpus < judged && plan.index_at(report.corpus) < plan.corpus.size()) {
    ++report.corpus;
  }
  report.drawn = judged - report.corpus;
  // Of a run that ended early, so many that the same ones are judged again.
  if (judged < cases) {
    plan.drawn = std::max(plan.index_at(judged), plan.corpus.size()) - plan.corpus.size();
  }
  report.command = command_of(command, plan);
  report.version = version_text();
  report.smoke = command.smoke;
  report.interrupted = asked_to_end();
  report.seed = plan.seed;
  for (const EngineSource& engine : plan.judging.engines) {
    const int64_t one_in = command.smoke ? smoke_one_in(engine.name) : 1;
    report.engines.push_back(engine.name);
    if (one_in > 1) report.engines.back() += fmt::format(" (one pair in {})", one_in);
  }
  report.absent = plan.engines.absent;
  // Of the corpus alone it is known that each invariant applies somewhere in it.
  const bool is_cut = judged < std::min(cases, plan.corpus.size());
  report.few_cases = report.interrupted || is_cut || plan.shard.count > 1 ||
                     (!command.smoke && command.invariants.empty() && report.corpus == 0 &&
                      report.drawn < few_cases);
  find_never_applied(plan, report);
  ExitStatus written = save_failures(command, plan, collected, report);
  to_terminal("{}", as_text(report));
  const auto write = [&](const std::string& path, const std::string& content) {
    if (path.empty()) return;
    const std::string why = write_whole(path, content);
    if (!why.empty()) written = combined(written, refuse(why, exit_infrastructure));
  };
  write(command.json, as_json(report));
  write(command.markdown, as_markdown(report));
  if (asked_to_end()) written = combined(written, exit_infrastructure);
  return combined(status_of(report), written);
}

}  // namespace

ExitStatus run_check(const CheckCommand& command) {
  return supervised([&](Doing& now) { return check_all(command, now); });
}

}  // namespace gdn
