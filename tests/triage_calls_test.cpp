// Triage of the host: which mutants it names, by the tool itself, and that it says nothing of
// right engines.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>

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

TEST(TriageCalls, Wide) {
  const char* only = std::getenv("ONLY");
  const char* per = std::getenv("PER");
  const int most = per ? std::atoi(per) : 3;
  size_t judged = 0, host = 0, named = 0;
  double total = 0, worst = 0;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    if (std::string_view(mutant.op) != "host" || (only && std::string(only) != mutant.name)) continue;
    const Lab lab = lab_of("mutant:" + std::string(mutant.name));
    std::set<std::string> done;
    for (const Invariant& invariant : registry()) {
      if (done.size() > 40) break;
      int count = 0;
      for (const CorpusFile& seed : seeds()) {
        if (count >= most || seed.content.subject == Subject::delta_rule) break;
        if (check(invariant, seed.content, lab).outcome != Outcome::fails) continue;
        ++count;
        if (!done.insert(seed.name).second) continue;
        ++judged;
        const auto t0 = std::chrono::steady_clock::now();
        const std::optional<CallFinding> found = first_wrong_call(seed.content, lab);
        const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
        total += s;
        worst = std::max(worst, s);
        const bool is_host = found && found->op == mutant.op;
        const bool is_named =
            is_host && !found->causes.empty() && explains(found->causes.front(), mutant.name);
        host += is_host;
        named += is_named;
        if (s > 3) std::cout << mutant.name << " " << seed.name << " took " << s << std::endl;
        if (is_named && !only) continue;
        std::cout << mutant.name << " " << seed.name << " by " << invariant.name << ": ";
        if (!found) {
          std::cout << "nothing" << std::endl;
          continue;
        }
        std::cout << found->op << " " << found->tensor << " "
                  << (found->causes.empty() ? "no cause" : found->causes.front()) << " ("
                  << found->setting << ") " << found->verdict.detail << std::endl;
      }
    }
  }
  std::cout << host << " of " << judged << " called host, " << named << " by their bug, total "
            << total << " worst " << worst << "\n";
}

TEST(TriageCalls, RightEngines) {
  for (const char* name : {"twin", "simt"}) {
    const Lab lab = lab_of(name);
    for (const CorpusFile& seed : seeds()) {
      const auto t0 = std::chrono::steady_clock::now();
      const std::optional<CallFinding> found = first_wrong_call(seed.content, lab);
      const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
      if (s > 1) std::cout << name << " " << seed.name << " took " << s << std::endl;
      EXPECT_FALSE(found) << name << " " << seed.name << " " << found->op << " " << found->setting << " "
                          << found->verdict.detail;
    }
  }
}

TEST(TriageCalls, NamesTheHostAndTheBug) {
  const char* only = std::getenv("ONLY");
  size_t judged = 0, host = 0, named = 0;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    if (std::string_view(mutant.op) != "host" || (only && std::string(only) != mutant.name)) continue;
    const Lab lab = lab_of("mutant:" + std::string(mutant.name));
    const Case* const c = first_kill(mutant.name, lab);
    ASSERT_NE(c, nullptr) << mutant.name;
    ++judged;
    const auto t0 = std::chrono::steady_clock::now();
    const std::optional<CallFinding> found = first_wrong_call(*c, lab);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    const bool is_host = found && found->op == mutant.op;
    const bool is_named =
        is_host && !found->causes.empty() && explains(found->causes.front(), mutant.name);
    host += is_host;
    named += is_named;
    if (s > 2) std::cout << mutant.name << " took " << s << "\n";
    if (is_named && !only) continue;
    std::cout << mutant.name << ": ";
    if (!found) {
      std::cout << "nothing\n";
      continue;
    }
    std::cout << found->op << " " << found->tensor << " "
              << (found->causes.empty() ? "no cause" : found->causes.front()) << " ("
              << found->setting << ") " << found->verdict.detail << "\n";
  }
  std::cout << host << " of " << judged << " called host, " << named << " by their bug\n";
  EXPECT_GE(100 * host, 95 * judged);
  EXPECT_GE(100 * named, 70 * judged);
}

}  // namespace
}  // namespace gdn
