// `deltaproof collect`.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/night/collect.h"
#include "ci/night/night_fields.h"
#include "ci/shard.h"

namespace gdn {
namespace {

// What follows the key on its line, quotes taken off; empty where there is none.
std::string fact_of(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(separator);
    if (at == std::string::npos || !line.starts_with(key)) continue;
    std::string value = line.substr(at + 1);
    std::erase(value, '"');
    value.erase(0, value.find_first_not_of(' '));
    return value;
  }
  return "";
}

NightMachine machine_of(const CollectCommand& command) {
  NightMachine machine;
  machine.cpu = fact_of("/proc/cpuinfo", "model name", ':');
  machine.os = fact_of("/etc/os-release", "PRETTY_NAME", '=');
  machine.compiler = "C++ " __VERSION__;
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.gpu = command.gpu;
  machine.driver = command.driver;
  return machine;
}

// A crash is found too, and is no wrong number.
ExitStatus status_of_findings(const Night& night) {
  uint64_t fails = 0;
  uint64_t engine_errors = 0;
  for (const NightInvariant& row : night.invariants) {
    fails += row.fails;
    engine_errors += row.engine_errors;
  }
  return fails == 0 && engine_errors > 0 ? exit_engine_failed : exit_fails;
}

// 1 before 4 before 5 before 0, over all stages; what did not run is no pass.
int status_of(const Night& night) {
  ExitStatus status = night.findings.empty() ? exit_ok : status_of_findings(night);
  bool any = false;
  for (const NightStage& stage : night.stages) {
    any = any || stage.state == "passed";
    if (stage.state == "passed" || stage.state == "not_run") continue;
    // A stage that was stopped, or failed for a reason of its own, tells nothing of the engine.
    const bool is_verdict = stage.status == exit_fails || stage.status == exit_engine_failed;
    status =
        combined(status, is_verdict ? static_cast<ExitStatus>(stage.status) : exit_infrastructure);
  }
  return any || status != exit_ok ? status : exit_fails;
}

ExitStatus write(const CollectCommand& command, const Night& night, const std::string& path) {
  // It is read back before anyone relies on it: a moment or a commit of another form is said here.
  std::string why;
  const std::string text = print(night);
  if (!parse_night(text, &why)) return refuse(fmt::format("{}: {}", path, why), exit_bad_input);
  why = write_whole(path, text);
  if (!why.empty()) return refuse(why, exit_infrastructure);
  to_terminal("{}: {} findings, {} stages, status {}{}\n", path, night.findings.size(),
              night.stages.size(), night.status, command.unfinished ? ", it goes on" : "");
  return exit_ok;
}

ExitStatus merge(const CollectCommand& command) {
  if (command.out.empty()) return refuse("--merge needs --out", exit_bad_input);
  const std::string in_the_way = why_results_in_the_way({command.out}, command.folders);
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  std::vector<Night> shards;
  std::string why;
  for (const std::string& path : command.folders) {
    const std::optional<std::string> text = read_bytes(path, &why);
    if (!text) return refuse(why, exit_bad_input);
    std::optional<Night> shard = parse_night(*text, &why);
    if (!shard) return refuse(fmt::format("{}: {}", path, why), exit_bad_input);
    shards.push_back(*std::move(shard));
  }
  const std::optional<Night> night = merged(std::move(shards), &why);
  return night ? write(command, *night, command.out) : refuse(why, exit_bad_input);
}

// Without --id the folder's night was collected before, here or on another machine: what it was
// stays, but for what is given. No value, and *why, where there is none.
std::optional<Night> night_of(const CollectCommand& command, std::string* why) {
  Night night;
  night.complete = true;
  if (command.id.empty()) {
    const std::string path = command.folders.front() + "/night.jsonl";
    const std::optional<std::string> text = read_bytes(path, why);
    if (!text) *why += ": it says which night it is where --id does not";
    if (!text) return std::nullopt;
    std::optional<Night> before = parse_night(*text, why);
    if (!before) *why = fmt::format("{}: {}", path, *why);
    if (!before) return std::nullopt;
    night = *std::move(before);
    each_kind(night, [](const char*, auto& records) { records.clear(); });
  } else {
    night.machine = machine_of(command);
  }
  for (const auto& [given, kept] : {std::pair{&command.id, &night.id},
                                    {&command.commit, &night.commit},
                                    {&command.subject, &night.subject},
                                    {&command.began, &night.began},
                                    {&command.command, &night.command},
                                    {&command.seed, &night.seed}}) {
    if (!given->empty()) *kept = *given;
  }
  if (command.shard.empty()) return night;
  const std::optional<Shard> shard = parse_shard(command.shard);
  if (!shard) {
    *why = why_no_shard(command.shard);
    return std::nullopt;
  }
  night.shard_index = static_cast<int>(shard->index) + 1;
  night.shard_count = static_cast<int>(shard->count);
  return night;
}

}  // namespace

ExitStatus run_collect(const CollectCommand& command) {
  if (command.merge) return merge(command);
  if (command.folders.size() != 1) return refuse("expected one folder, or --merge", exit_bad_input);
  std::string why;
  std::optional<Night> found = night_of(command, &why);
  if (!found) return refuse(why, exit_bad_input);
  Night& night = *found;
  // Records are added to no night that has ended.
  const bool is_whole = night.complete && !command.unfinished;
  night.complete = false;
  collect_stages(command.folders.front(), night);
  night.status = status_of(night);
  night.complete = is_whole;
  const std::string path =
      command.out.empty() ? command.folders.front() + "/night.jsonl" : command.out;
  const ExitStatus written = write(command, night, path);
  // The night goes on, or its records have what could be read; who asked for them is told.
  for (const NightStage& stage : night.stages) {
    if (command.unfinished || !stage.name.starts_with(collect_stage)) continue;
    return combined(written, refuse(stage.why, exit_bad_input));
  }
  return written;
}

}  // namespace gdn
