// One reader a file. What is missing was not run, and its stage says so.
#include "ci/night/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "ci/exit_status.h"
#include "ci/files.h"

namespace gdn {
namespace {

using nlohmann::json;

// In the origin of a finding of triage: the number of the failure in the report of check.
constexpr std::string_view failure_word = ", failure ";

double figure_of(const json& value) { return value.is_number() ? value.get<double>() : INFINITY; }

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& cells = rows.emplace_back();
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '\t');) cells.push_back(cell);
  }
  return rows;
}

void read_stages(const std::string& text, Night& night) {
  for (const std::vector<std::string>& cells : rows_of(text)) {
    if (cells.size() < 5) {
      throw std::runtime_error("expected name, state, status, seconds, budget, why");
    }
    NightStage stage;
    stage.name = cells[0];
    stage.state = cells[1];
    stage.status = std::stoi(cells[2]);
    stage.seconds = std::stod(cells[3]);
    stage.budget_seconds = std::stod(cells[4]);
    if (cells.size() > 5) stage.why = cells[5];
    night.stages.push_back(std::move(stage));
  }
}

// That something was asked is a record of its own: else nobody could tell that what it had found in
// an earlier night is gone.
NightInvariant& asked_of(const std::string& engine, const std::string& invariant, Night& night) {
  for (NightInvariant& row : night.invariants) {
    if (row.engine == engine && row.invariant == invariant) return row;
  }
  NightInvariant& row = night.invariants.emplace_back();
  row.engine = engine;
  row.invariant = invariant;
  return row;
}

constexpr const char* of_captures = "capture_within_bound";

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
      finding.replay = report.at("command");
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
  one.holds = row.at("holds");
  one.fails = row.at("fails");
  one.undecided = row.at("undecided");
  one.suspicious = row.at("suspicious");
  one.engine_errors = row.at("engine_errors");
  one.not_served = row.at("not_served");
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
    for (const json& index : failure.at("indices")) finding.indices.push_back(index.dump());
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

// The repetitions of each benchmark of the program, without them its one run; and those of its
// ratios to something else that was measured beside it, `times_...`, of which more is better.
void read_benchmark(const std::string& text, const std::string& machine, Night& night) {
  std::map<std::string, std::vector<double>> times, ratios;
  std::map<std::string, std::string> units;
  const json report = json::parse(text);
  for (const json& run : report.at("benchmarks")) {
    if (run.value("run_type", "iteration") != "iteration") continue;
    const std::string name = run.value("run_name", run.at("name").get<std::string>());
    times[name].push_back(run.at("cpu_time"));
    units[name] = run.at("time_unit");
    for (const auto& [key, value] : run.items()) {
      if (key.starts_with("times_")) ratios[name + " " + key].push_back(value);
    }
  }
  for (auto& [name, each] : times) {
    std::sort(each.begin(), each.end());
    night.benches.push_back(
        {machine, name, units[name], each[each.size() / 2], each.front(), each.back()});
  }
  for (auto& [name, each] : ratios) {
    std::sort(each.begin(), each.end());
    night.benches.push_back({machine, name, "x", each[each.size() / 2], each.back(), each.front()});
  }
}

// Tables whose columns say fastest and slowest: the median stands before them.
void read_gpu(const std::string& text, Night& night) {
  const json report = json::parse(text);
  for (const json& part : report.at("parts")) {
    for (const json& statement : part.at("statements")) {
      NightInvariant& asked = asked_of("cuda", statement.at("text"), night);
      if (statement.at("holds")) {
        ++asked.holds;
        continue;
      }
      ++asked.fails;
      NightFinding finding;
      finding.invariant = statement.at("text");
      finding.engine = "cuda";
      finding.op = "host";
      finding.detail = statement.at("detail");
      finding.replay = "./ci/gpu";
      night.findings.push_back(std::move(finding));
    }
    for (const json& table : part.at("tables")) {
      const std::vector<std::string> header = table.at("header");
      const auto fastest = std::find(header.begin(), header.end(), "fastest");
      if (fastest == header.begin() || fastest == header.end()) continue;
      const auto column = static_cast<size_t>(fastest - header.begin());
      for (const json& row : table.at("rows")) {
        const std::string first =
            row.at(0).is_string() ? row.at(0).get<std::string>() : row.at(0).dump();
        night.benches.push_back({night.machine.gpu, header[0] + " " + first, "us",
                                 figure_of(row.at(column - 1)), figure_of(row.at(column)),
                                 figure_of(row.at(column + 1))});
      }
    }
  }
}

size_t files_in(const std::filesystem::path& folder) {
  std::error_code error;
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    count += entry.is_regular_file(error) ? 1 : 0;
  }
  return count;
}

void read_fuzz(const std::filesystem::path& folder, Night& night) {
  std::error_code error;
  std::vector<std::filesystem::path> targets;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::filesystem::exists(entry.path() / "pieces")) targets.push_back(entry.path());
  }
  std::sort(targets.begin(), targets.end());
  for (const std::filesystem::path& target : targets) {
    NightFuzz fuzz;
    fuzz.target = target.filename();
    std::ifstream pieces(target / "pieces");
    uint64_t executions = 0;
    double seconds = 0;
    while (pieces >> executions >> seconds) {
      fuzz.executions += executions;
      fuzz.seconds += seconds;
    }
    fuzz.corpus_inputs = files_in(target / "merged");
    for (const auto& fault : std::filesystem::directory_iterator(target / "faults", error)) {
      ++fuzz.findings;
      NightFinding finding;
      finding.invariant = fuzz.target;
      finding.engine = "fuzz";
      finding.detail = "an input that the target does not survive: " + fault.path().string();
      finding.replay =
          fmt::format("build/fuzz/fuzz/{} {}/fault", fuzz.target, fault.path().string());
      night.findings.push_back(std::move(finding));
    }
    NightInvariant& asked = asked_of("fuzz", fuzz.target, night);
    asked.holds += fuzz.executions > 0 && fuzz.findings == 0 ? 1 : 0;
    asked.fails += fuzz.findings;
    night.fuzz.push_back(std::move(fuzz));
  }
}

std::vector<std::string> reports_of_oracles(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("oracles.") && name.ends_with(".json")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A stage that was killed may leave half a file: what the others left still counts. That it could
// not be read is a stage that failed, and so no pass.
void keep_what_can_be_read(const std::string& path, Night& night,
                           const std::function<void(const std::string&)>& take) {
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
  const std::string name = std::filesystem::path(path).filename();
  night.stages.push_back(
      {"collect " + name, "failed", exit_infrastructure, 0, 0, fmt::format("{}: {}", path, wrong)});
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
    keep_what_can_be_read(name, night, take);
  };
  read(folder + "/stages.tsv", [&](const std::string& text) { read_stages(text, night); });
  read(folder + "/panel.jsonl", [&](const std::string& text) {
    std::string wrong;
    if (!add_records(text, night, &wrong)) throw std::runtime_error(wrong);
  });
  for (const std::string& report : reports_of_oracles(folder)) {
    read(report, [&](const std::string& text) { read_oracles(text, night); });
  }
  const size_t first = night.findings.size();
  read(folder + "/check.json", [&](const std::string& text) { read_check(text, night); });
  read(folder + "/triage.json", [&](const std::string& text) { read_triage(text, first, night); });
  read(folder + "/matrix.json", [&](const std::string& text) { read_matrix(text, night); });
  for (const char* const benches : {"/bench.json", "/bench_layer.json"}) {
    read(folder + benches,
         [&](const std::string& text) { read_benchmark(text, night.machine.cpu, night); });
  }
  read(folder + "/gpu/gpu.json", [&](const std::string& text) { read_gpu(text, night); });
  read_fuzz(folder + "/fuzz", night);
  drop_repeated(night.gaps);
}

}  // namespace gdn
