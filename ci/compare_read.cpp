// Reports of verify and check, read back.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "ci/check_report.h"
#include "ci/compare.h"
#include "ci/files.h"
#include "ci/ratios_json.h"
#include "ci/report.h"

namespace gdn {
namespace {

using nlohmann::json;

// Thrown by what a report must have and this one has not; read_run says where.
[[noreturn]] void bad(const std::string& why) { throw std::runtime_error(why); }

void add(RatioCounts& sum, const RatioCounts& more) {
  sum.zero += more.zero;
  sum.infinite += more.infinite;
  for (const auto& [exponent, samples] : more.powers_of_two) {
    sum.powers_of_two[exponent] += samples;
  }
}

std::string text(const json& object, const char* key) { return object.at(key).get<std::string>(); }

// Whose numbers: an engine goes by what it is to the run, so that two engines can be compared.
std::string role_of(const std::string& source, const std::string& engine) {
  return source == engine ? "engine" : source;
}

void read_verify(const json& root, ReadRun& run) {
  run.about = fmt::format("verify, engine {}, {}", text(root, "engine"), text(root, "deltaproof"));
  if (!root.at("complete").get<bool>()) {
    run.notes.push_back(
        fmt::format("{}: it did not judge every file: {}", run.path, text(root, "ended")));
  }
  for (const json& file : root.at("files")) {
    const std::string path = text(file, "path");
    ReadRun::Part& part = run.parts[path.substr(path.find_last_of('/') + 1)];
    for (const json& row : file.at("rows")) {
      const RatioKey key = {text(row, "operator"), text(row, "tensor"), text(row, "scope"),
                            role_of(text(row, "source"), text(file, "engine"))};
      add(part.ratios[key], ratios_of(row.at("ratios")));
      part.fails[key] += text(row, "verdict") == "fails";
    }
  }
}

void read_check(const json& root, ReadRun& run) {
  std::set<std::string> engines;
  for (const json& row : root.at("rows")) engines.insert(text(row, "engine"));
  const std::string only = engines.size() == 1 ? *engines.begin() : "";
  run.about =
      fmt::format("check, {}, seed {}, {} drawn and {} corpus cases, {}",
                  only.empty() ? fmt::format("{} engines", engines.size()) : "engine " + only,
                  text(root, "seed"), sample_count_of(root.at("drawn_cases")),
                  sample_count_of(root.at("corpus_cases")), text(root, "deltaproof"));
  if (root.at("interrupted").get<bool>()) run.notes.push_back(run.path + ": it was interrupted");
  ReadRun::Part& part = run.parts[""];
  for (const json& row : root.at("rows")) {
    RatioKey key = {"", text(row, "invariant"), "", role_of(text(row, "engine"), only)};
    part.fails[key] += sample_count_of(row.at("fails"));
    for (const auto& [subject, ratios] : row.at("ratios").items()) {
      key.op = subject;
      add(part.ratios[key], ratios_of(ratios));
    }
  }
}

std::string why_not_this_version(const json& root, const char* command, int version) {
  const json& written = root.at("version");
  if (written == version) return "";
  return fmt::format("it is of version {}, {} is read: write it again with {} --json",
                     written.dump(), version, command);
}

void read_root(const json& root, ReadRun& run) {
  if (!root.is_object() || !root.contains("format")) bad("it is no report of verify or check");
  run.format = text(root, "format");
  const bool is_verify = run.format == "deltaproof-report";
  if (!is_verify && run.format != "deltaproof-check") {
    bad(fmt::format("a report of verify or check was expected, it is '{}'", run.format));
  }
  const std::string why = is_verify ? why_not_this_version(root, "verify", report_version)
                                    : why_not_this_version(root, "check", check_report_version);
  if (!why.empty()) bad(why);
  is_verify ? read_verify(root, run) : read_check(root, run);
}

}  // namespace

std::optional<ReadRun> read_run(const std::string& path, std::string* why) {
  const std::optional<std::string> content = read_bytes(path, why);
  if (!content) return std::nullopt;
  ReadRun run;
  run.path = path;
  try {
    read_root(json::parse(*content), run);
  } catch (const json::parse_error& error) {
    *why = fmt::format("{}: not JSON, or cut short at byte {} of {}", path, error.byte,
                       content->size());
    return std::nullopt;
  } catch (const std::exception& error) {
    *why = fmt::format("{}: {}", path, error.what());
    return std::nullopt;
  }
  return run;
}

}  // namespace gdn
