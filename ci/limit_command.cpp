// `deltaproof limit`: the smallest change of one element that is always seen, by our checks and by
// rules that public test suites use.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/limit.h"
#include "ci/processes.h"
#include "ci/supervised.h"

namespace gdn {
namespace {

// The part of the document that --summary replaces.
constexpr const char* limit_part = "detection limits";

struct Task {
  size_t place = 0;
  int64_t index = 0;  // of the case
};

// Between processes: a byte for what follows, then the words why there are no numbers, or numbers.
constexpr char served = 's', not_judged = 'n', no_engine = 'e';

std::string packed(const Verdict& why) {
  const bool is_engines = why.outcome == Outcome::engine_error;
  return (is_engines ? no_engine : not_judged) +
         fmt::format("{}: {}", name_of(why.outcome), why.detail);
}

std::string packed(const std::vector<TensorTrials>& all) {
  std::vector<double> numbers;
  for (const TensorTrials& one : all) {
    numbers.push_back(static_cast<double>(one.tensor));
    numbers.push_back(static_cast<double>(one.rules.size()));
    numbers.push_back(static_cast<double>(one.rules.front().size()));
    for (const std::vector<SmallestSeen>& rule : one.rules) {
      for (const SmallestSeen& seen : rule) numbers.insert(numbers.end(), {seen.ulps, seen.of_row});
    }
  }
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return served + bytes;
}

std::vector<TensorTrials> unpacked(std::string_view bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  std::vector<TensorTrials> all;
  for (size_t at = 0; at < numbers.size();) {
    TensorTrials one{static_cast<Tensor>(numbers[at]), {}};
    one.rules.resize(static_cast<size_t>(numbers[at + 1]));
    const auto trials = static_cast<size_t>(numbers[at + 2]);
    at += 3;
    for (std::vector<SmallestSeen>& rule : one.rules) {
      for (size_t i = 0; i < trials; ++i, at += 2) rule.push_back({numbers[at], numbers[at + 1]});
    }
    all.push_back(std::move(one));
  }
  return all;
}

// The trials of a place are shared out among its cases, the first of which take what is left over.
int64_t trials_of_case(const LimitPlace& place, int64_t index, int64_t trials) {
  return trials / place.cases + (index < trials % place.cases ? 1 : 0);
}

// Rows in the order of places, then of tensors.
ExitStatus measure(const LimitCommand& command, const EngineSource& engine, LimitReport& report) {
  const std::vector<LimitPlace> places = limit_places(command.quick);
  std::vector<Task> tasks;
  for (size_t p = 0; p < places.size(); ++p) {
    for (int64_t i = 0; i < places[p].cases; ++i) tasks.push_back({p, i});
  }
  std::vector<std::vector<TensorTrials>> results(tasks.size());
  std::string why;
  ExitStatus status = exit_ok;
  const auto ends_with = [&](ExitStatus of_task, std::string_view how) {
    if (combined(status, of_task) == status) return;
    status = of_task;
    why = how;
  };
  Work work;
  work.tasks = tasks.size();
  work.run = [&](size_t task, size_t first, Channel& channel) {
    // It is not the first process on this task: the one before ended in it.
    if (first > 0) return;
    const LimitPlace& place = places[tasks[task].place];
    const Case c = limit_case(place, report.seed, tasks[task].index);
    const Lab lab(engine);
    channel.begin(0);
    Verdict why_not;
    const int64_t trials = trials_of_case(place, tasks[task].index, report.trials);
    const std::vector<TensorTrials> all = trials_of(place, c, lab, trials, &why_not);
    channel.put(why_not.holds() ? packed(all) : packed(why_not));
  };
  work.result = [&](size_t task, size_t, std::string_view result) {
    const std::string_view what = result.substr(1);
    if (result.front() == served) results[task] = unpacked(what);
    if (result.front() == not_judged) ends_with(exit_fails, what);
    if (result.front() == no_engine) ends_with(exit_engine_failed, what);
  };
  work.crashed = [&](size_t, size_t, const std::string& how) {
    ends_with(exit_engine_failed, how);
  };
  size_t done = 0;
  work.done = [&](size_t) { fmt::print(stderr, "deltaproof: {} of {}\n", ++done, tasks.size()); };
  work.stop = [&](size_t) { return status != exit_ok; };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
  if (status != exit_ok)
    return refuse(fmt::format("{}: {}", visible(engine.name), visible(why)), status);
  for (size_t p = 0; p < places.size(); ++p) {
    std::vector<const std::vector<TensorTrials>*> cases;
    for (size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].place == p) cases.push_back(&results[t]);
    }
    for (size_t i = 0; i < cases.front()->size(); ++i) {
      std::vector<const TensorTrials*> of_tensor;
      for (const std::vector<TensorTrials>* one : cases) of_tensor.push_back(&(*one)[i]);
      report.rows.push_back(row_of(places[p], of_tensor));
    }
  }
  return exit_ok;
}

ExitStatus limits_of(const LimitCommand& command, Doing& now) {
  LimitReport report;
  const ExitStatus has_seed = seed_asked(command.seed, &report.seed);
  if (has_seed != exit_ok) return has_seed;
  report.trials = command.trials;
  now.enter(Doing::Whose::engine, "loading the engine");
  EnginesHere engines;
  const ExitStatus found = find_engines({command.engine}, false, engines);
  if (found != exit_ok) return found;
  const std::string in_the_way =
      why_results_in_the_way({command.json, command.summary}, {command.engine});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable =
      why_results_not_writable({command.json}, command.summary, limit_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  now.enter(Doing::Whose::ours, "measuring");
  report.engine = command.engine;
  report.version = version_text();
  report.command =
      fmt::format("{} limit --engine {} --seed {} --trials {}", shell_word(command.program),
                  shell_word(command.engine), report.seed, command.trials);
  if (command.quick) report.command += " --quick";
  if (!command.summary.empty()) report.command += " --summary " + shell_word(command.summary);
  const ExitStatus measured = measure(command, engines.engines.front(), report);
  if (measured != exit_ok) return measured;
  to_terminal("{}", as_text(report));
  ExitStatus written = exit_ok;
  const auto said = [&](const std::string& why) {
    if (!why.empty()) written = refuse(why, exit_infrastructure);
  };
  if (!command.json.empty()) said(write_whole(command.json, as_json(report)));
  if (!command.summary.empty()) {
    said(replace_part(command.summary, limit_part, as_markdown(report)));
  }
  return written;
}

}  // namespace

ExitStatus run_limit(const LimitCommand& command) {
  return supervised([&](Doing& now) { return limits_of(command, now); });
}

}  // namespace gdn
