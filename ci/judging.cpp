// Tasks are cases, steps are invariants on engines; verdicts travel as bytes.
#include "ci/judging.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/interrupt.h"
#include "ci/processes.h"
#include "invariants/harness/shrink.h"

namespace gdn {
namespace {

// Enough to leave a large case for a small one, and an end where each try is slow.
constexpr size_t shrink_tries_max = 600;
// Of a crash each try is a process.
constexpr size_t crash_tries_max = 150;

struct VerdictBytes {
  uint64_t outcome;
  double worst_ratio, worst_ulp;
  uint64_t tensors, elements, undecided, worst_index;
};

std::string packed(const Verdict& v) {
  const VerdictBytes head = {static_cast<uint64_t>(v.outcome),
                             v.worst_ratio,
                             v.worst_ulp,
                             v.tensors,
                             v.elements,
                             v.undecided,
                             v.worst_index};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes + v.detail;
}

Verdict unpacked(std::string_view bytes) {
  VerdictBytes head = {};
  std::memcpy(&head, bytes.data(), sizeof head);
  Verdict v;
  v.outcome = static_cast<Outcome>(head.outcome);
  v.worst_ratio = head.worst_ratio;
  v.worst_ulp = head.worst_ulp;
  v.tensors = head.tensors;
  v.elements = head.elements;
  v.undecided = head.undecided;
  v.worst_index = head.worst_index;
  v.detail = bytes.substr(sizeof head);
  return v;
}

Verdict engine_error(std::string detail) {
  Verdict v;
  v.outcome = Outcome::engine_error;
  v.detail = std::move(detail);
  return v;
}

Verdict crash(const std::string& how) {
  return engine_error(how + ": the engine crashed or ended the process");
}

// Of one process: opened when they are first asked, so that each has its own devices.
using Labs = std::vector<std::unique_ptr<Lab>>;

const Lab& lab_of(Labs& labs, const Judging& judging, size_t engine) {
  labs.resize(judging.engines.size());
  if (!labs[engine]) labs[engine] = std::make_unique<Lab>(judging.engines[engine]);
  return *labs[engine];
}

void judge_case(const Judging& judging, const std::set<size_t>& hanging, size_t index, size_t first,
                Labs& labs, Channel& channel) {
  const Case c = judging.case_at(index);
  for (size_t i = 0; i < judging.invariants.size(); ++i) {
    const Invariant& invariant = *judging.invariants[i];
    if (!invariant.claim.applies(c)) continue;
    for (size_t e = 0; e < judging.engines.size(); ++e) {
      const size_t step = i * judging.engines.size() + e;
      if (step < first || hanging.contains(e)) continue;
      if (!judging.asks(index, c, invariant, e)) continue;
      channel.begin(step);
      channel.put(packed(judge_one(invariant, c, lab_of(labs, judging, e))));
    }
  }
}

Ending ending_of(const Judging& judging, const Failing& of, const Case& c) {
  return how_it_ends([&] {
    const Lab lab(judging.engines[of.engine]);
    judge_one(*judging.invariants[of.invariant], c, lab);
  });
}

// The smallest case as text, below how many steps led there and its verdict.
std::string small_and_packed(const Judging& judging, const Failing& failing, Labs& labs) {
  const Invariant& invariant = *judging.invariants[failing.invariant];
  const auto holds_elsewhere = [&](const Case& c) {
    return std::all_of(failing.holding.begin(), failing.holding.end(), [&](size_t engine) {
      const Verdict verdict = judge_one(invariant, c, lab_of(labs, judging, engine));
      return verdict.holds() && verdict.elements > 0;
    });
  };
  if (failing.crashed) {
    bool hangs = false;
    const auto crashes = [&](const Case& c) {
      // A neighbour that hangs is not what is looked for, and one of them is enough.
      if (hangs) return false;
      const Ending ending = ending_of(judging, failing, c);
      hangs = ending.hangs;
      return !ending.how.empty() && !hangs && holds_elsewhere(c);
    };
    const Shrunk shrunk = shrink(failing.found, crashes, crash_tries_max);
    return fmt::format("{} 0\n{}", shrunk.accepted, print(shrunk.smallest));
  }
  const Lab& lab = lab_of(labs, judging, failing.engine);
  const auto fails = [&](const Case& c) {
    return judge_one(invariant, c, lab).outcome == failing.verdict.outcome && holds_elsewhere(c);
  };
  const Shrunk shrunk = shrink(failing.found, fails, shrink_tries_max);
  const std::string verdict = packed(judge_one(invariant, shrunk.smallest, lab));
  return fmt::format("{} {}\n{}{}", shrunk.accepted, verdict.size(), verdict,
                     print(shrunk.smallest));
}

void take_small(std::string_view bytes, Failing& failing) {
  const std::string head(bytes.substr(0, bytes.find('\n')));
  size_t verdict_bytes = 0;
  std::sscanf(head.c_str(), "%zu %zu", &failing.steps, &verdict_bytes);
  bytes.remove_prefix(head.size() + 1);
  if (verdict_bytes > 0) failing.verdict = unpacked(bytes.substr(0, verdict_bytes));
  std::string why;
  const std::optional<Case> smallest = parse_case(bytes.substr(verdict_bytes), &why);
  if (smallest) failing.smallest = *smallest;
}

}  // namespace

Verdict judge_one(const Invariant& invariant, const Case& c, const Lab& lab) {
  try {
    return check(invariant, c, lab);
  } catch (const std::exception& error) {
    return engine_error(fmt::format("an exception came out of the check: {}", error.what()));
  } catch (...) {
    return engine_error("an exception came out of the check, of no type that says more");
  }
}

size_t judge(const Judging& judging, size_t cases, const std::function<bool(size_t index)>& stop,
             const std::function<void(size_t index, const std::vector<Answer>&)>& take) {
  struct Waiting {
    std::vector<Answer> judged;
    bool done = false;
  };
  std::map<size_t, Waiting> waiting;  // by case
  size_t next = 0;                    // to be taken
  const auto keep = [&](size_t task, size_t step, Verdict verdict, bool crashed, bool hangs) {
    waiting[task].judged.push_back({step % judging.engines.size(), step / judging.engines.size(),
                                    std::move(verdict), crashed, hangs});
  };
  std::set<size_t> hanging;
  auto labs = std::make_shared<Labs>();
  Work work;
  work.tasks = cases;
  work.stop = stop;
  // A process knows of those that hung before it began.
  work.run = [&judging, &hanging, labs](size_t task, size_t first, Channel& channel) {
    judge_case(judging, hanging, task, first, *labs, channel);
  };
  work.result = [&](size_t task, size_t step, std::string_view bytes) {
    keep(task, step, unpacked(bytes), false, false);
  };
  work.crashed = [&](size_t task, size_t step, const std::string& how) {
    keep(task, step, crash(how), true, false);
  };
  work.hung = [&](size_t task, size_t step, const std::string& how) {
    hanging.insert(step % judging.engines.size());
    keep(task, step, engine_error(how), true, true);
  };
  work.done = [&](size_t task) {
    waiting[task].done = true;
    for (auto at = waiting.find(next); at != waiting.end() && at->second.done;
         at = waiting.find(next)) {
      take(next++, at->second.judged);
      waiting.erase(at);
    }
  };
  share_out(judging.processes, work);
  return next;
}

void make_small(const Judging& judging, std::vector<Failing>& failing) {
  auto labs = std::make_shared<Labs>();
  for (Failing& one : failing) one.smallest = one.found;
  Work work;
  work.tasks = failing.size();
  work.run = [&, labs](size_t task, size_t first, Channel& channel) {
    if (first > 0 || failing[task].hangs) return;
    channel.begin(0);
    channel.put(small_and_packed(judging, failing[task], *labs));
  };
  work.result = [&](size_t task, size_t, std::string_view bytes) {
    take_small(bytes, failing[task]);
  };
  // A neighbour that crashes or hangs is not what is looked for; the case stays as it was found.
  work.crashed = [](size_t, size_t, const std::string&) {};
  work.done = [](size_t) {};
  // What was found is worth more than that it is small, to one who wants to go.
  work.stop = [](size_t) { return asked_to_end(); };
  share_out(judging.processes, work);
}

std::vector<std::string> calls_lacked(const Description& description) {
  std::vector<std::string> lacked;
  for (int i = 0; i < call_kind_count; ++i) {
    const std::string name(name_of(static_cast<CallKind>(i)));
    if (!description.calls.contains(name)) lacked.push_back(name);
  }
  return lacked;
}

namespace {

// Words why an engine cannot run here, and how asking for them ended.
std::pair<std::string, Ending> asked_whether_here(const EngineSource& engine) {
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe", {}};
  Ending ending = how_it_ends([&] {
    const std::string why = why_not_available(engine);
    if (write(ends[1], why.data(), why.size()) < 0) std::_Exit(1);
  });
  close(ends[1]);
  std::string why(1 << 12, '\0');
  const ssize_t got = read(ends[0], why.data(), why.size());
  close(ends[0]);
  why.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  // One that crashes as it is opened will do so again where it is judged, and be blamed there.
  return {ending.how.empty() ? why : "", std::move(ending)};
}

}  // namespace

std::string why_not_here(const EngineSource& engine) {
  auto [why, ending] = asked_whether_here(engine);
  return ending.hangs ? ending.how : why;
}

ExitStatus find_engines(const std::vector<std::string>& names, bool skip_absent, EnginesHere& found,
                        const std::string& named_by) {
  for (const std::string& name : names) {
    std::string why;
    std::optional<EngineSource> engine = find_engine(name, &why);
    if (!engine) return refuse(named_by + ": " + why, exit_bad_input);
    Ending ending;
    std::tie(why, ending) = asked_whether_here(*engine);
    if (ending.hangs) return refuse(ending.how, exit_engine_failed);
    if (why.empty()) {
      found.engines.push_back(*std::move(engine));
    } else if (skip_absent) {
      found.absent.push_back(fmt::format("{}: {}", name, why));
    } else {
      return refuse(fmt::format("engine {} is not available here: {}", visible(name), why),
                    exit_infrastructure);
    }
  }
  return exit_ok;
}

ExitStatus find_engine_for(const std::string& engine, const std::string& json, Doing& now,
                           EnginesHere& found) {
  const std::string in_the_way = why_results_in_the_way({json}, {engine});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  now.enter(Doing::Whose::engine, fmt::format("engine {}: loading", engine));
  const ExitStatus status = find_engines({engine}, false, found);
  if (status != exit_ok) return status;
  const std::string unwritable = why_results_not_writable({json});
  return unwritable.empty() ? exit_ok : refuse(unwritable, exit_infrastructure);
}

ExitStatus find_invariants(const std::vector<std::string>& names,
                           std::vector<const Invariant*>& found, const std::string& named_by) {
  for (const Invariant& invariant : registry()) {
    if (names.empty()) found.push_back(&invariant);
  }
  for (const std::string& name : names) {
    const Invariant* const invariant = invariant_named(name);
    if (!invariant) {
      std::string known;
      for (const Invariant& one : registry()) known += " " + one.name;
      return refuse(fmt::format("{}: '{}' is not one of{}", named_by, name, known), exit_bad_input);
    }
    found.push_back(invariant);
  }
  return exit_ok;
}

}  // namespace gdn
