// Engines by the public rules, shared out over processes.
#include <fmt/format.h>

#include <cstdio>

#include "ci/judging.h"
#include "ci/processes.h"
#include "ci/public_rules_table.h"

namespace gdn {
namespace {

// What each rule says of each case, by engine: those that are right first, the twin before all.
using Raw = std::vector<std::vector<RuleSet>>;

std::vector<EngineSource> right_engines() {
  std::vector<EngineSource> engines;
  for (const char* name : {"twin", "simt"}) {
    std::string why;
    std::optional<EngineSource> engine = find_engine(name, &why);
    if (engine && why_not_here(*engine).empty()) engines.push_back(*std::move(engine));
  }
  return engines;
}

void judge_engine(const EngineSource& engine, const std::vector<RuledCase>& cases, size_t first,
                  Channel& channel) {
  const Lab lab(engine);
  for (size_t k = first; k < cases.size(); ++k) {
    channel.begin(k);
    channel.put(rejecting(cases[k], lab).to_string());
  }
}

Raw judge_engines(const std::vector<EngineSource>& engines, const std::vector<RuledCase>& cases,
                  int jobs) {
  Raw raw(engines.size(), std::vector<RuleSet>(cases.size()));
  size_t done = 0;
  Work work;
  work.tasks = engines.size();
  work.run = [&](size_t task, size_t first, Channel& channel) {
    judge_engine(engines[task], cases, first, channel);
  };
  work.result = [&](size_t task, size_t step, std::string_view result) {
    raw[task][step] = RuleSet(std::string(result));
  };
  // A suite sees a crash, whatever its rule.
  work.crashed = [&](size_t task, size_t step, const std::string&) { raw[task][step].set(); };
  work.done = [&](size_t task) {
    fmt::print(stderr, "deltaproof: {} of {} engines by public rules, {}\n", ++done, engines.size(),
               engines[task].name);
  };
  share_out(jobs > 0 ? jobs : processes_here(), work);
  return raw;
}

RulesTable::Right right_of(const std::string& name, const std::vector<RuledCase>& cases,
                           const std::vector<RuleSet>& raw) {
  RulesTable::Right right{name};
  for (size_t k = 0; k < cases.size(); ++k) {
    auto& rejected = right.rejected[static_cast<size_t>(cases[k].range)];
    for (size_t rule = 0; rule < public_rule_count; ++rule) rejected[rule] += raw[k][rule];
  }
  return right;
}

}  // namespace

RulesTable judge_by_rules(const std::vector<RuledMutant>& mutants,
                          const std::vector<RuledCase>& others, int jobs) {
  std::vector<RuledCase> cases = own_range_cases();
  cases.insert(cases.end(), others.begin(), others.end());
  const std::vector<EngineSource> right = right_engines();
  std::vector<EngineSource> engines = right;
  for (const RuledMutant& mutant : mutants) engines.push_back(mutant.engine);
  const Raw raw = judge_engines(engines, cases, jobs);
  RulesTable table;
  for (const RuledCase& c : cases) ++table.cases[static_cast<size_t>(c.range)];
  for (size_t i = 0; i < right.size(); ++i) {
    table.right.push_back(right_of(right[i].name, cases, raw[i]));
  }
  for (size_t i = 0; i < mutants.size(); ++i) {
    RulesTable::Row row{mutants[i].engine.name, mutants[i].op, {}, 0};
    for (size_t k = 0; k < cases.size(); ++k) {
      row.killed[static_cast<size_t>(cases[k].range)] |= raw[right.size() + i][k] & ~raw[0][k];
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace gdn
