// Counts that are whole, and speed, search and coverage as records.
#include "ci/night/collect_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "invariants/harness/json_fields.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

size_t files_in(const fs::path& folder) {
  std::error_code error;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    count += entry.is_regular_file(error) ? 1 : 0;
  }
  return count;
}

}  // namespace

size_t whole_of(const char* key, const json& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  throw std::runtime_error(
      fmt::format("'{}': expected a whole number from 0, got {}", key, shown(value)));
}

size_t count_of(const json& object, const char* key) { return whole_of(key, object.at(key)); }

double figure_of(const json& value) { return value.is_number() ? value.get<double>() : INFINITY; }

std::vector<std::vector<std::string>> rows_of(const std::string& text, char separator) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& cells = rows.emplace_back();
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, separator);) cells.push_back(cell);
  }
  return rows;
}

NightInvariant& asked_of(const std::string& engine, const std::string& invariant, Night& night) {
  for (NightInvariant& row : night.invariants) {
    if (row.engine == engine && row.invariant == invariant) return row;
  }
  NightInvariant& row = night.invariants.emplace_back();
  row.engine = engine;
  row.invariant = invariant;
  return row;
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

namespace {

bool has_bench(const Night& night, const std::string& name) {
  return std::any_of(night.benches.begin(), night.benches.end(), [&](const NightBench& bench) {
    return bench.machine == night.machine.gpu && bench.name == name;
  });
}

}  // namespace

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
        std::string name = header[0] + " " + first;
        // A record is found by its name: rows of two tables that say the same are told apart.
        if (has_bench(night, name)) name += ", " + table.at("title").get<std::string>();
        night.benches.push_back({night.machine.gpu, name, "us", figure_of(row.at(column - 1)),
                                 figure_of(row.at(column)), figure_of(row.at(column + 1))});
      }
    }
  }
}

// A line for each time that the target ran: executions, seconds.
void read_target(const fs::path& target, const std::string& pieces, Night& night) {
  NightFuzz fuzz;
  fuzz.target = target.filename();
  for (const std::vector<std::string>& cells : rows_of(pieces, ' ')) {
    if (cells.size() != 2) throw std::runtime_error("expected executions and seconds");
    fuzz.executions += whole_number<uint64_t>("executions", cells[0]);
    fuzz.seconds += whole_number<int>("seconds", cells[1]);
  }
  fuzz.corpus_inputs = files_in(target / "merged");
  std::error_code error;
  for (const auto& fault : fs::directory_iterator(target / "faults", error)) {
    ++fuzz.findings;
    NightFinding finding;
    finding.invariant = fuzz.target;
    finding.engine = "fuzz";
    finding.detail = "an input that the target does not survive: " + fault.path().string();
    finding.replay = fmt::format("build/fuzz/fuzz/{} {}/fault", fuzz.target, fault.path().string());
    night.findings.push_back(std::move(finding));
  }
  NightInvariant& asked = asked_of("fuzz", fuzz.target, night);
  asked.holds += fuzz.executions > 0 && fuzz.findings == 0 ? 1 : 0;
  asked.fails += fuzz.findings;
  night.fuzz.push_back(std::move(fuzz));
}

// An outcome of a condition a line: file, line, column, outcome, whether it is taken, source. A
// record for each folder of the engines, as docs/coverage.md has them.
void read_coverage(const std::string& text, Night& night) {
  std::map<std::string, NightCoverage> folders;
  for (const std::vector<std::string>& cells : rows_of(text)) {
    if (cells.size() < 5) throw std::runtime_error("expected file, line, column, outcome, taken");
    const std::string folder = fs::path(cells[0]).parent_path();
    NightCoverage& row = folders[folder];
    row.what = "outcomes of conditions in " + folder;
    row.covered += whole_number<int>("taken", cells[4]) > 0 ? 1 : 0;
    ++row.total;
  }
  for (auto& [folder, row] : folders) night.coverage.push_back(std::move(row));
}

}  // namespace gdn
