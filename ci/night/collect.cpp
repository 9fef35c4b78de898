// One reader a file. What is missing was not run, and its stage says so.
#include "ci/night/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "ci/exit_status.h"
#include "ci/files.h"
#include "ci/night/collect_parts.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// In the origin of a finding of triage: the number of the failure in the report of check.
constexpr std::string_view failure_word = ", failure ";

void read_stages(const std::string& text, Night& night) {
  for (const std::vector<std::string>& cells : rows_of(text)) {
    if (cells.size() < 5) {
      throw std::runtime_error("expected name, state, status, seconds, budget, why");
    }
    NightStage stage;
    stage.name = cells[0];
    stage.state = cells[1];
    stage.status = whole_number<int>("status", cells[2]);
    stage.seconds = whole_number<int>("seconds", cells[3]);
    stage.budget_seconds = whole_number<int>("budget", cells[4]);
    if (cells.size() > 5) stage.why = cells[5];
    night.stages.push_back(std::move(stage));
  }
}

constexpr const char* of_captures = "capture_within_bound";

// Of the command that judged all captures the one that judges this capture alone.
std::string replay_of(const std::string& command, const std::string& capture,
                      const std::string& engine) {
  constexpr std::string_view verb = " verify ";
  const size_t at = command.find(verb);
  if (at == std::string::npos) return command;
  return fmt::format("{}{}{} --engine {}", command.substr(0, at), verb, shell_word(capture),
                     shell_word(engine));
}

void read_oracles(const std::string& text, Night& night) {
  const json report = json::parse(text);
  const std::string engine = report.at("engine");
  for (const json& file : report.at("files")) {
    for (const json& row : file.at("rows")) {
      const std::string verdict = row.at("verdict");
      NightInvariant& asked = asked_of(row.at("source"), of_captures, night);
      asked.holds += verdict == "holds" ? 1 : 0;
      asked.fails += verdict == "fails" ? 1 : 0;
      asked.undecided += verdict == "undecided" ? 1 : 0;
      asked.engine_errors += verdict == "engine_error" ? 1 : 0;
      asked.worst_ratio = std::max(asked.worst_ratio, figure_of(row.at("worst_ratio")));
      if (verdict != "fails" && verdict != "engine_error") continue;
      NightFinding finding;
      finding.invariant = of_captures;
      finding.op = row.at("operator");
      finding.engine = row.at("source");
      finding.detail = fmt::format("{}: {}", file.at("path").get<std::string>(),
                                   row.at("detail").get<std::string>());
      finding.replay = replay_of(report.at("command"), file.at("path"), engine);
      night.findings.push_back(std::move(finding));
    }
  }
  if (!report.at("complete")) {
    night.gaps.push_back({"captures on " + engine, report.at("ended").get<std::string>()});
  }
}

NightInvariant invariant_of(const json& row) {
  NightInvariant one;
  one.engine = row.at("engine");
  one.invariant = row.at("invariant");
  one.holds = count_of(row, "holds");
  one.fails = count_of(row, "fails");
  one.undecided = count_of(row, "undecided");
  one.suspicious = count_of(row, "suspicious");
  one.engine_errors = count_of(row, "engine_errors");
  one.not_served = count_of(row, "not_served");
  one.worst_ratio = figure_of(row.at("worst_ratio"));
  return one;
}

void read_check(const std::string& text, Night& night) {
  const json report = json::parse(text);
  std::map<std::pair<std::string, std::string>, size_t> failures;
  for (const json& row : report.at("rows")) {
    const NightInvariant& one = night.invariants.emplace_back(invariant_of(row));
    failures[{one.invariant, one.engine}] = one.fails + one.engine_errors;
  }
  for (const json& words : report.at("not_available")) {
    night.gaps.push_back(gap_of("engine ", words));
  }
  for (const json& words : report.at("not_asked")) {
    night.gaps.push_back(gap_of("invariant ", words));
  }
  for (const json& name : report.at("never_applied")) {
    night.gaps.push_back({"invariant " + name.get<std::string>(), "it applied to no case"});
  }
  for (const json& failure : report.at("failures")) {
    NightFinding finding;
    finding.invariant = failure.at("invariant");
    finding.engine = failure.at("engine");
    finding.detail = failure.at("detail");
    finding.case_text = failure.at("text");
    finding.replay = failure.at("replay");
    for (const json& index : failure.at("indices")) {
      finding.indices.push_back(std::to_string(whole_of("indices", index)));
    }
    finding.seen = std::max<size_t>(1, failures[{finding.invariant, finding.engine}]);
    night.findings.push_back(std::move(finding));
  }
}

// Which operator, and why, of the findings from `first` on, which are those of the report of check.
void read_triage(const std::string& text, size_t first, Night& night) {
  const json report = json::parse(text);
  for (const json& diagnosed : report.at("findings")) {
    const std::string origin = diagnosed.at("origin");
    const size_t at = origin.rfind(failure_word);
    if (at == std::string::npos) continue;
    const size_t number = std::stoul(origin.substr(at + failure_word.size()));
    if (number == 0 || first + number > night.findings.size()) {
      throw std::runtime_error(fmt::format("{} is not in check.json", origin));
    }
    NightFinding& finding = night.findings[first + number - 1];
    finding.op = diagnosed.at("operator");
    finding.diagnosis = diagnosed.at("cause");
  }
}

// Regressions that are back. What check found of the same has its operator and its cause.
void read_replay(const std::string& text, Night& night) {
  const size_t known = night.findings.size();
  const json report = json::parse(text);
  for (const json& failure : report.at("failures")) {
    NightFinding finding;
    finding.invariant = failure.at("invariant");
    finding.engine = failure.at("engine");
    finding.detail = fmt::format("{}: {}", failure.at("file").get<std::string>(),
                                 failure.at("detail").get<std::string>());
    finding.case_text = failure.at("text");
    finding.replay = failure.at("replay");
    const bool is_known =
        std::any_of(night.findings.begin(), night.findings.begin() + static_cast<long>(known),
                    [&](const NightFinding& other) {
                      return other.invariant == finding.invariant && other.engine == finding.engine;
                    });
    if (is_known) continue;
    NightInvariant& asked = asked_of(finding.engine, finding.invariant, night);
    ++(failure.at("verdict") == "engine_error" ? asked.engine_errors : asked.fails);
    night.findings.push_back(std::move(finding));
  }
}

void read_matrix(const std::string& text, Night& night) {
  const json report = json::parse(text);
  for (const json& row : report.at("rows")) {
    NightMutant mutant;
    mutant.name = row.at("mutant");
    mutant.op = row.at("operator");
    mutant.state = row.at("survives") ? "alive" : "killed";
    if (!row.at("survives")) mutant.killed_by = {row.at("killed_by").get<std::string>()};
    night.mutants.push_back(std::move(mutant));
  }
}

std::vector<std::string> folders_with(const std::string& name, const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (fs::exists(entry.path() / name, error)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> reports_of_oracles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("oracles.") && name.ends_with(".json")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A stage that was killed may leave half a file: what the others left still counts. That it could
// not be read is a stage that failed, and so no pass.
void keep_what_can_be_read(const std::string& folder, const std::string& name, Night& night,
                           const std::function<void(const std::string&)>& take) {
  const std::string path = folder + "/" + name;
  std::string wrong;
  const std::optional<std::string> bytes = read_bytes(path, &wrong);
  if (!bytes) return;
  const Night before = night;
  try {
    take(*bytes);
    Night read_back;
    if (add_records(print_records(night), read_back, &wrong)) return;
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  night = before;
  night.stages.push_back({fmt::format("{}{}", collect_stage, name), "failed", exit_infrastructure,
                          0, 0, fmt::format("{}: {}", path, wrong)});
}

}  // namespace

NightGap gap_of(const std::string& kind, const std::string& words) {
  const size_t colon = words.find(": ");
  if (colon == std::string::npos) return {kind + words, ""};
  return {kind + words.substr(0, colon), words.substr(colon + 2)};
}

void drop_repeated(std::vector<NightGap>& gaps) {
  std::set<std::string> known;
  std::erase_if(gaps, [&](const NightGap& gap) { return !known.insert(gap.what).second; });
}

void collect_stages(const std::string& folder, Night& night) {
  const auto read = [&](const std::string& name, const auto& take) {
    keep_what_can_be_read(folder, name, night, take);
  };
  read("stages.tsv", [&](const std::string& text) { read_stages(text, night); });
  read("panel.jsonl", [&](const std::string& text) {
    std::string wrong;
    if (!add_records(text, night, &wrong)) throw std::runtime_error(wrong);
  });
  for (const std::string& report : reports_of_oracles(folder)) {
    read(report, [&](const std::string& text) { read_oracles(text, night); });
  }
  const size_t first = night.findings.size();
  read("check.json", [&](const std::string& text) { read_check(text, night); });
  read("triage.json", [&](const std::string& text) { read_triage(text, first, night); });
  read("replay.json", [&](const std::string& text) { read_replay(text, night); });
  read("matrix.json", [&](const std::string& text) { read_matrix(text, night); });
  for (const char* const benches : {"bench.json", "bench_layer.json"}) {
    read(benches, [&](const std::string& text) { read_benchmark(text, night.machine.cpu, night); });
  }
  read("gpu/gpu.json", [&](const std::string& text) { read_gpu(text, night); });
  for (const std::string& target : folders_with("pieces", folder + "/fuzz")) {
    read("fuzz/" + fs::path(target).filename().string() + "/pieces",
         [&](const std::string& text) { read_target(target, text, night); });
  }
  read("coverage/outcomes.tsv", [&](const std::string& text) { read_coverage(text, night); });
  drop_repeated(night.gaps);
}

}  // namespace gdn
