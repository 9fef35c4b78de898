// Nights as ci/nightly would have them. What is judged is judged here: the twin and the simulator
// on a capture and on drawn cases, mutants by the invariants that name them. Dates, commits and
// figures of speed are made up.
#include "tests/simulated_nights.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "ci/night/history.h"
#include "invariants/harness/engine.h"
#include "invariants/harness/invariant.h"
#include "invariants/harness/regimes.h"
#include "invariants/harness/verify.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// The smallest case that check found for the mutant rollback_keeps_history.
constexpr const char* rollback_case =
    "deltaproof-case 1\n"
    "subject layer\n"
    "seed 1\n"
    "shape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 conv_kernel=2 "
    "num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
    "dialect deltaproof\n"
    "tokens 2\n";

constexpr const char* subjects[] = {
    "Store the state tile once a block",      "Document the order of shared loads",
    "Name the padding ways in one place",     "Gather the gates of a block in one load",
    "Keep drafts in a ring of snapshots",     "Test the pool at its exact capacity",
    "Let a row of warps share its scales",    "Split the conv by channel groups",
    "Restore the history with the state",     "Widen the loads of the projections",
    "Take the norm's mean by pairs of lanes", "Say which driver is too old",
    "Drop a barrier that no one waited at",   "Count cold and warm launches apart",
    "Sort the seeds by their subjects",       "Refuse a scale that is no number"};

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> found = find_engine(engine, &why);
  if (!found) fmt::print(stderr, "{}\n", why);
  return Lab(found.value());
}

// Number ceil(p n) of n samples that are known by their powers of two alone: the middle of that
// power, and no more than the worst.
double quantile(const RatioCounts& ratios, double p, double worst) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(ratios.samples())));
  size_t seen = ratios.zero;
  if (seen >= rank) return 0;
  for (const auto& [exponent, count] : ratios.powers_of_two) {
    seen += count;
    if (seen >= rank) return std::min(worst, std::ldexp(1.5, exponent));
  }
  return worst;
}

std::string digest_of(const NightTensor& tensor) {
  uint64_t hash = 14695981039346656037U;
  const auto add = [&](uint64_t number) { hash = (hash ^ number) * 1099511628211U; };
  add(tensor.ratios.zero);
  for (const auto& [exponent, count] : tensor.ratios.powers_of_two) {
    add(static_cast<uint64_t>(exponent + 64) << 32 | count);
  }
  add(static_cast<uint64_t>(std::ldexp(tensor.worst, 52)));
  return fmt::format("{:016x}", hash);
}

std::vector<NightTensor> tensors_of_engine(const std::string& root, const std::string& engine) {
  const Lab lab = lab_of(engine);
  std::string why;
  VerifyOptions options;
  options.lab = &lab;
  const std::optional<VerifyReport> report =
      verify_file(root + "/corpus/oracle/gdn_tiny_decode.safetensors", options, &why);
  std::vector<NightTensor> tensors;
  for (const VerifyRow& row : report.value().rows) {
    const Judgement& judged = row.judgement;
    if (judged.source != engine || row.scope != Scope::local) continue;
    NightTensor tensor;
    tensor.panel = "1";
    tensor.engine = engine;
    tensor.op = name_of(judged.op);
    tensor.tensor = judged.tensor;
    tensor.samples = judged.ratios.samples();
    tensor.undecided = judged.verdict.undecided;
    tensor.ratios = judged.ratios;
    tensor.worst = judged.verdict.worst_ratio;
    tensor.p50 = quantile(judged.ratios, 0.5, tensor.worst);
    tensor.p99 = quantile(judged.ratios, 0.99, tensor.worst);
    tensor.digest = digest_of(tensor);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void double_errors(NightTensor& tensor) {
  tensor.p50 *= 2;
  tensor.p99 *= 2;
  tensor.worst *= 2;
  std::map<int, size_t> moved;
  for (const auto& [exponent, count] : tensor.ratios.powers_of_two) moved[exponent + 1] = count;
  tensor.ratios.powers_of_two = std::move(moved);
  tensor.digest = digest_of(tensor);
}

Case smallest_rollback() {
  std::string why;
  return parse_case(rollback_case, &why).value();
}

std::vector<NightInvariant> invariants_of_engine(const std::string& engine, uint64_t cases) {
  const Lab lab = lab_of(engine);
  std::vector<NightInvariant> rows;
  for (const Invariant& invariant : registry()) {
    NightInvariant row;
    row.engine = engine;
    row.invariant = invariant.name;
    // Drawn ones, and one of a corpus.
    for (uint64_t i = 0; i <= cases; ++i) {
      const Case c = i < cases ? draw_case(1, i) : smallest_rollback();
      if (!invariant.claim.applies(c) || (i < cases && !asked(invariant, c))) continue;
      const Verdict verdict = check(invariant, c, lab);
      row.holds += verdict.outcome == Outcome::holds ? 1 : 0;
      row.fails += verdict.outcome == Outcome::fails ? 1 : 0;
      row.undecided += verdict.outcome == Outcome::undecided ? 1 : 0;
      row.suspicious += verdict.outcome == Outcome::suspicious ? 1 : 0;
      row.engine_errors += verdict.outcome == Outcome::engine_error ? 1 : 0;
      row.not_served += verdict.outcome == Outcome::not_applicable ? 1 : 0;
      row.worst_ratio = std::max(row.worst_ratio, verdict.worst_ratio);
    }
    if (row.holds + row.fails + row.undecided + row.not_served > 0) rows.push_back(row);
  }
  return rows;
}

NightMutant judged_mutant(const std::string& name, const std::string& op, uint64_t cases) {
  const Lab lab = lab_of("mutant:" + name);
  NightMutant mutant;
  mutant.name = name;
  mutant.op = op;
  for (const Invariant& invariant : registry()) {
    const std::vector<std::string>& kills = invariant.claim.kills;
    if (std::find(kills.begin(), kills.end(), name) == kills.end()) continue;
    bool killed = false;
    for (uint64_t i = 0; i < cases && !killed; ++i) {
      const Case c = draw_case(1, i);
      killed = invariant.claim.applies(c) && check(invariant, c, lab).outcome == Outcome::fails;
    }
    if (killed) mutant.killed_by.push_back(invariant.name);
  }
  mutant.state = mutant.killed_by.empty() ? "alive" : "killed";
  return mutant;
}

NightFinding rollback_finding() {
  const Lab lab = lab_of("mutant:rollback_keeps_history");
  const Invariant* invariant = invariant_named("rollback_forgets_drafts");
  NightFinding finding;
  finding.invariant = invariant->name;
  finding.op = "host";
  finding.engine = "twin";
  finding.diagnosis = "rollback_keeps_history";
  finding.detail = check(*invariant, smallest_rollback(), lab).detail;
  finding.case_text = rollback_case;
  finding.replay =
      "build/dev/deltaproof replay out/rollback_forgets_drafts_13e6c87a.case --invariant "
      "rollback_forgets_drafts --engine twin";
  finding.seen = 3;
  return finding;
}

std::vector<NightBench> benches(size_t night) {
  Rng rng{0x5eed + night};
  std::vector<NightBench> rows;
  for (const auto& [name, typical] : {std::pair{"step of a layer, 4-bit weights", 41.0},
                                      {"recurrence of one token, 48 heads", 6.2}}) {
    const auto spread = [&] { return static_cast<double>(rng.range(-12, 12)) / 1000; };
    const double median = typical * (1 + spread());
    rows.push_back({"NVIDIA H200", name, "us/token", median, median * 0.985, median * 1.03});
  }
  return rows;
}

std::vector<NightStage> stages(bool gpu, bool fails) {
  std::vector<NightStage> all = {
      {"set-up", "passed", 0, 12.4, 300, ""},   {"tests", "passed", 0, 412, 900, ""},
      {"oracles", "passed", 0, 38.1, 120, ""},  {"invariants", "passed", 0, 655, 900, ""},
      {"fuzzing", "passed", 0, 1800, 1800, ""}, {"sanitizer", "passed", 0, 96, 600, ""},
      {"matrix", "passed", 0, 240, 600, ""},    {"bench", "passed", 0, 75, 300, ""}};
  if (fails) {
    all[3].state = "failed";
    all[3].status = 1;
    all[3].why = "an invariant fails on twin";
  }
  for (const size_t i : {5U, 7U}) {
    if (gpu) continue;
    all[i] = {all[i].name, "not_run", 0, 0, all[i].budget_seconds, "no GPU can be used"};
  }
  return all;
}

struct JudgedOnce {
  std::vector<NightTensor> tensors;
  std::vector<NightInvariant> invariants;
  std::vector<NightMutant> mutants;
  NightFinding finding;
};

JudgedOnce judge_once(const std::string& root) {
  JudgedOnce judged;
  for (const char* engine : {"twin", "simt"}) {
    for (NightTensor& tensor : tensors_of_engine(root, engine)) judged.tensors.push_back(tensor);
    for (NightInvariant& row : invariants_of_engine(engine, 3)) judged.invariants.push_back(row);
  }
  for (const auto& [name, op] : {std::pair{"error_before_decay", "delta_rule"},
                                 {"conv_taps_flipped", "conv"},
                                 {"beta_without_sigmoid", "gates"},
                                 {"rollback_keeps_history", "host"},
                                 {"layer_offset", "host"}}) {
    judged.mutants.push_back(judged_mutant(name, op, 12));
  }
  judged.finding = rollback_finding();
  return judged;
}

// cuda and simt agree bit for bit.
void add_cuda(Night& night) {
  for (size_t i = 0, count = night.tensors.size(); i < count; ++i) {
    if (night.tensors[i].engine != "simt") continue;
    night.tensors.push_back(night.tensors[i]);
    night.tensors.back().engine = "cuda";
  }
  night.machine.gpu = "NVIDIA H200";
  night.machine.driver = "580.82.07";
}

std::string digits_alone(std::string date) {
  std::erase(date, '-');
  return date;
}

Night night_of(const JudgedOnce& judged, size_t i, const PlantedRegressions& planted) {
  const bool gpu = i != planted.without_gpu;
  const bool fails = i >= planted.finding_from && i < planted.finding_until;
  Night night;
  night.commit = simulated_commit(i);
  night.subject = subjects[i % std::size(subjects)];
  night.began = simulated_date(i) + "T02:00:00Z";
  night.id =
      fmt::format("{}T020000Z-{}", digits_alone(simulated_date(i)), night.commit.substr(0, 12));
  night.command = "./ci/nightly --minutes 60";
  night.seed = night.commit;
  night.machine = {"Intel Xeon Platinum 8468", "Debian GNU/Linux 12", "g++ 12.2.0", 16, "", ""};
  night.stages = stages(gpu, fails);
  night.tensors = judged.tensors;
  for (NightTensor& tensor : night.tensors) {
    const bool stepped = i >= planted.step_at && tensor.engine == "simt" &&
                         tensor.op == planted.op && tensor.tensor == planted.tensor;
    if (stepped) double_errors(tensor);
  }
  if (gpu) add_cuda(night);
  if (!gpu) night.gaps.push_back({"engine cuda", "no GPU can be used: no driver is loaded"});
  if (gpu) night.benches = benches(i);
  night.invariants = judged.invariants;
  night.mutants = judged.mutants;
  if (fails) {
    night.findings.push_back(judged.finding);
    for (NightInvariant& row : night.invariants) {
      if (row.engine == "twin" && row.invariant == judged.finding.invariant) row.fails += 3;
    }
  }
  night.fuzz = {{"fuzz_layer", 1'204'771 + 1000 * i, 900, 412 + i, fails ? 1U : 0U},
                {"fuzz_hostile", 9'400'120 + 7000 * i, 900, 238, 0}};
  night.coverage = {{"outcomes of conditions in device/host", 686 + i, 726 + i},
                    {"outcomes of conditions in device/twin", 823 + i, 834 + i}};
  night.complete = true;
  night.status = fails ? 1 : 0;
  return night;
}

}  // namespace

std::vector<Night> simulated_nights(const std::string& root, const PlantedRegressions& planted) {
  const JudgedOnce judged = judge_once(root);
  std::vector<Night> nights;
  for (size_t i = 0; i < planted.nights; ++i) nights.push_back(night_of(judged, i, planted));
  return nights;
}

std::optional<NightReport> remembered_report(const std::vector<Night>& nights, std::string* why) {
  std::string folder = std::filesystem::temp_directory_path() / "deltaproof_nights_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    *why = "no folder can be made for a history";
    return std::nullopt;
  }
  std::optional<NightReport> report;
  {
    const std::unique_ptr<History> history = History::open(folder + "/history.sqlite", why);
    bool stored = history != nullptr;
    for (const Night& night : nights) stored = stored && history->import(night, why);
    std::optional<HistoryView> view;
    if (stored) view = history->view(nights.size(), why);
    if (view) report = NightReport{nights.back(), *std::move(view)};
  }
  std::filesystem::remove_all(folder);
  return report;
}

std::string simulated_commit(size_t night) {
  Rng rng{night + 1};
  std::string digits;
  while (digits.size() < 40) digits += "0123456789abcdef"[rng.range(0, 15)];
  return digits;
}

std::string simulated_date(size_t night) {
  return night < 16 ? fmt::format("2026-11-{:02}", night + 15 - 1)
                    : fmt::format("2026-12-{:02}", night - 15);
}

}  // namespace gdn
