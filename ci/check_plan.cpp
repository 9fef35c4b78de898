// What a run of `check` judges.
#include "ci/check_plan.h"

#include <fmt/format.h>

#include <cstdio>

#include "ci/files.h"
#include "ci/processes.h"
#include "invariants/harness/regimes.h"
#include "reference/rng.h"

namespace gdn {
namespace {

constexpr int64_t default_cases = 1000;
// About a minute on two cores, with the shares below.
constexpr int64_t smoke_cases = 600;

bool in_share(const Case& c, const Invariant& invariant, const std::string& engine) {
  const int64_t one_in = smoke_one_in(engine);
  if (one_in == 1) return true;
  const uint64_t pair = mix64(fnv1a64(print(c)) ^ fnv1a64(invariant.name));
  return mix64(pair ^ fnv1a64(engine)) % static_cast<uint64_t>(one_in) == 0;
}

}  // namespace

Case Plan::case_of(size_t index) const {
  if (index < corpus.size()) return corpus[index].content;
  return draw_case(seed, index - corpus.size());
}

int64_t smoke_one_in(const std::string& engine) {
  if (engine == "simt" || engine == "cuda") return 4;
  return engine == "simt_checked" ? 12 : 1;
}

std::string command_of(const CheckCommand& command, const Plan& plan) {
  std::string text = shell_word(command.program) + " check";
  if (command.smoke) text += " --smoke";
  for (const std::string& name : command.invariants) text += " --invariant " + shell_word(name);
  text += fmt::format(" --seed {} --cases {}", plan.seed, plan.drawn);
  for (const EngineSource& engine : plan.judging.engines) {
    text += " --engine " + shell_word(engine.name);
  }
  if (plan.shard.count > 1) text += " --shard " + command.shard;
  if (!command.corpus.empty()) text += " --corpus " + shell_word(command.corpus);
  if (command.out != CheckCommand{}.out) text += " --out " + shell_word(command.out);
  return text;
}

ExitStatus make_plan(const CheckCommand& command, Plan& plan) {
  if (!command.seed.empty()) {
    const ExitStatus has_seed = seed_asked(command.seed, &plan.seed);
    if (has_seed != exit_ok) return has_seed;
  }
  if (!command.shard.empty()) {
    const std::optional<Shard> shard = parse_shard(command.shard);
    if (!shard) return refuse(why_no_shard(command.shard), exit_bad_input);
    plan.shard = *shard;
  }
  const int64_t otherwise = command.smoke         ? smoke_cases
                            : command.seconds > 0 ? int64_t{1} << 40
                                                  : default_cases;
  plan.drawn = static_cast<size_t>(command.cases.value_or(otherwise));
  if (command.smoke || !command.corpus.empty()) {
    const std::string corpus = command.corpus.empty() ? find_corpus() : command.corpus;
    std::string why = "there is no folder corpus here, give it with --corpus";
    if (corpus.empty() || !read_corpus(corpus, plan.corpus, &why)) {
      return refuse(why, exit_bad_input);
    }
  }
  std::vector<std::string> engines = command.engines;
  const bool own_choice = engines.empty();
  if (own_choice) engines = {"twin", "simt"};
  if (own_choice && command.smoke) engines.insert(engines.end(), {"simt_checked", "cuda"});
  ExitStatus status = find_engines(engines, own_choice, plan.engines);
  if (status != exit_ok) return status;
  status = find_invariants(command.invariants, plan.judging.invariants);
  if (status != exit_ok) return status;
  plan.judging.engines = plan.engines.engines;
  plan.judging.processes = command.jobs > 0 ? command.jobs : processes_here();
  plan.judging.case_at = [&plan](size_t place) { return plan.case_of(plan.index_at(place)); };
  const bool one_alone = command.invariants.size() == 1;
  const bool smoke = command.smoke;
  plan.judging.asks = [&plan, one_alone, smoke](size_t place, const Case& c,
                                                const Invariant& invariant, size_t engine) {
    if (smoke && !in_share(c, invariant, plan.judging.engines[engine].name)) return false;
    return one_alone || plan.index_at(place) < plan.corpus.size() || asked(invariant, c);
  };
  return exit_ok;
}

}  // namespace gdn
