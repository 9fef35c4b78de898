// One task a question, shared out over processes.
#include "ci/triage/diagnose_all.h"

#include <fmt/format.h>

#include "ci/interrupt.h"
#include "ci/judging.h"
#include "ci/processes.h"
#include "ci/triage/finding_json.h"
#include "ci/triage/smallest.h"

namespace gdn {
namespace {

Finding not_back(const Question& question, std::string how) {
  Finding finding;
  finding.engine = question.engine;
  finding.origin = question.origin;
  if (question.invariant != nullptr) finding.invariant = question.invariant->name;
  finding.smallest = question.c;
  finding.op = host;
  finding.crashed = true;
  finding.verdict.outcome = Outcome::engine_error;
  finding.verdict.detail = std::move(how);
  return finding;
}

// A case that crashes an invariant's check is made small like any other; of one that hangs each try
// would take as long as it.
void make_crash_small(const CaseAsked& asked, Finding& finding) {
  if (asked.question.invariant == nullptr) return;
  Judging judging;
  judging.engines = {asked.engine};
  judging.invariants = {asked.question.invariant};
  std::vector<Failing> failing(1);
  failing[0].found = asked.question.c;
  failing[0].crashed = true;
  failing[0].verdict = finding.verdict;
  make_small(judging, failing);
  finding.smallest = failing[0].smallest;
  finding.steps = failing[0].steps;
}

}  // namespace

std::vector<Finding> diagnose_all(const std::vector<CaseAsked>& asked, const Diagnosing& how) {
  std::vector<Finding> findings(asked.size());
  std::vector<bool> has_crashed(asked.size());
  Work work;
  work.tasks = asked.size();
  work.run = [&](size_t task, size_t first, Channel& channel) {
    if (first > 0) return;
    channel.begin(0);
    const Lab lab(asked[task].engine);
    const Finding finding = diagnose(asked[task].question, lab);
    channel.put(
        json_of(finding).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  };
  work.result = [&](size_t task, size_t, std::string_view bytes) {
    findings[task] = finding_of(nlohmann::ordered_json::parse(bytes));
  };
  work.crashed = [&](size_t task, size_t, const std::string& ended) {
    findings[task] = not_back(asked[task].question,
                              fmt::format("{}: the engine crashed or ended the process", ended));
    has_crashed[task] = true;
  };
  work.step_seconds_max = how.seconds_max;
  work.hung = [&](size_t task, size_t, const std::string& why) {
    findings[task] = not_back(asked[task].question, why);
  };
  work.done = [](size_t) {};
  work.stop = [](size_t) { return asked_to_end(); };
  share_out(how.processes, work);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (has_crashed[i]) make_crash_small(asked[i], findings[i]);
  }
  return findings;
}

}  // namespace gdn
