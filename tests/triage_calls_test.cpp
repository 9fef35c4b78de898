// Triage of the host: which mutants it names, by the tool itself, and that it says nothing of
// right engines.
#include <gtest/gtest.h>

#include <iostream>

#include "ci/triage/finding.h"
#include "ci/triage/host_cause.h"
#include "invariants/harness/invariant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

const std::vector<CorpusFile>& seeds() {
  static const std::vector<CorpusFile> all = case_files("seeds");
  return all;
}

// The first seed on which an invariant that names the mutant among its kills fails.
const Case* first_kill(const std::string& mutant, const Lab& lab) {
  for (const Invariant& invariant : registry()) {
    const std::vector<std::string>& kills = invariant.claim.kills;
    if (std::find(kills.begin(), kills.end(), mutant) == kills.end()) continue;
    for (const CorpusFile& seed : seeds()) {
      if (check(invariant, seed.content, lab).outcome == Outcome::fails) return &seed.content;
    }
  }
  return nullptr;
}

Lab lab_of(const std::string& name) {
  std::string why;
  std::optional<EngineSource> engine = find_engine(name, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  return Lab(*std::move(engine));
}

bool explains(const std::string& cause, const std::string& mutant) {
  if (cause == mutant) return true;
  for (const HostCause& known : host_causes()) {
    const std::vector<std::string>& also = known.explains;
    if (known.name == cause && std::find(also.begin(), also.end(), mutant) != also.end()) {
      return true;
    }
  }
  return false;
}

// On the seeds that are small enough for seconds.
TEST(TriageCalls, SaysNothingOfRightEngines) {
  size_t judged = 0;
  for (const char* name : {"twin", "simt"}) {
    const Lab lab = lab_of(name);
    for (const CorpusFile& seed : seeds()) {
      // The simulator takes seconds where the twin takes milliseconds.
      const Shape& s = seed.content.shape;
      const bool is_layer = seed.content.subject == Subject::layer;
      const int64_t work = s.hidden_size * s.conv_dim() * seed.content.tokens * s.num_layers;
      const int64_t work_max = lab.engine() == "simt" ? 1 << 8 : 1 << 12;
      if (!is_layer || work > work_max) continue;
      const std::optional<CallFinding> found = first_wrong_call(seed.content, lab);
      ++judged;
      EXPECT_FALSE(found) << name << ", " << seed.name << ": " << found->op << " " << found->setting
                          << ": " << found->verdict.detail;
    }
  }
  EXPECT_GE(judged, 10U);
}

TEST(TriageCalls, NamesTheHostAndTheBug) {
  size_t judged = 0, host = 0, named = 0;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    if (std::string_view(mutant.op) != "host") continue;
    const Lab lab = lab_of("mutant:" + std::string(mutant.name));
    const Case* const c = first_kill(mutant.name, lab);
    ASSERT_NE(c, nullptr) << mutant.name;
    // Calls of the recurrence alone are no layer's: what is found of them is told elsewhere.
    if (c->subject != Subject::layer) continue;
    ++judged;
    const std::optional<CallFinding> found = first_wrong_call(*c, lab);
    const bool is_host = found && found->op == mutant.op;
    const bool is_named =
        is_host && !found->causes.empty() && explains(found->causes.front(), mutant.name);
    host += is_host;
    named += is_named;
    if (is_named) continue;
    std::cout << "missed: " << mutant.name << ": ";
    if (!found) std::cout << "nothing\n";
    if (!found) continue;
    std::cout << found->op << ", " << (found->causes.empty() ? "no cause" : found->causes.front())
              << ": " << found->verdict.detail << "\n";
  }
  std::cout << host << " of " << judged << " called host, " << named << " by their bug\n";
  EXPECT_GE(judged, 60U);
  EXPECT_GE(100 * host, 95 * judged);
  EXPECT_GE(100 * named, 95 * judged);
}

}  // namespace
}  // namespace gdn
