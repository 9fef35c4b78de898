// Failing cases out of files of four kinds.
#include "ci/triage/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "ci/case_files.h"
#include "ci/check_report.h"
#include "ci/files.h"
#include "invariants/harness/record.h"
#include "invariants/harness/safetensors.h"
#include "invariants/harness/verdict.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// "# fails: INVARIANT on ENGINE: what", as check writes it above a case that it saves.
std::optional<std::pair<std::string, std::string>> said_by(std::string_view comment) {
  for (const Outcome outcome : {Outcome::fails, Outcome::engine_error}) {
    const std::string begin = fmt::format("# {}: ", name_of(outcome));
    if (!comment.starts_with(begin)) continue;
    const std::string_view rest = comment.substr(begin.size());
    const size_t on = rest.find(" on ");
    const size_t end = rest.find(": ", on == std::string_view::npos ? 0 : on);
    if (on == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
    return std::pair(std::string(rest.substr(on + 4, end - on - 4)),
                     std::string(rest.substr(0, on)));
  }
  return std::nullopt;
}

ExitStatus add_case(const std::string& path, std::vector<FailingCase>& failing) {
  std::string why;
  const std::optional<std::string> bytes = read_bytes(path, &why);
  if (!bytes) return refuse(why, exit_bad_input);
  const std::string& text = *bytes;
  const std::optional<Case> c = parse_case(text, &why);
  if (!c) return refuse(fmt::format("{}: {}", printable_path(path), why), exit_bad_input);
  const size_t before = failing.size();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto said = said_by(std::string_view(text).substr(at, end - at));
    if (said) failing.push_back({*c, said->first, said->second, path});
    at = end + 1;
  }
  if (failing.size() == before) failing.push_back({*c, "", "", path});
  return exit_ok;
}

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// Empty, or why what stands at `where` is not of the version that is read here.
std::string why_not_version(const json& object, int version, const std::string& where) {
  const auto at = object.find("version");
  if (at != object.end() && at->is_number_integer() && *at == version) return "";
  return fmt::format("{}: expected version {}, got {}; write it again with this program", where,
                     version, at == object.end() ? "none" : at->dump());
}

// Text, or absent.
std::string why_not_text(const json& object, const char* key, const std::string& where) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_string()) return "";
  return fmt::format("{}: {}: expected text, got {}", where, key, at->type_name());
}

// What a record or a saved failure of a report says; `where` names it.
ExitStatus add_record(const json& record, const std::string& where,
                      std::vector<FailingCase>& failing) {
  for (const char* key : {"text", "engine", "invariant"}) {
    const std::string why = why_not_text(record, key, where);
    if (!why.empty()) return refuse(why, exit_bad_input);
  }
  const std::string text = text_at(record, "text");
  if (text.empty()) {
    return refuse(where + ": it has no text of its case, which records have since version 2",
                  exit_bad_input);
  }
  std::string why;
  const std::optional<Case> c = parse_case(text, &why);
  if (!c) return refuse(fmt::format("{}: its case: {}", where, why), exit_bad_input);
  failing.push_back({*c, text_at(record, "engine"), text_at(record, "invariant"), where});
  return exit_ok;
}

ExitStatus add_records(const std::string& path, std::vector<FailingCase>& failing) {
  std::string wrong;
  const std::optional<std::string> bytes = read_bytes(path, &wrong);
  if (!bytes) return refuse(wrong, exit_bad_input);
  const std::string& text = *bytes;
  const std::string name = printable_path(path);
  const json whole = json::parse(text, nullptr, false);
  if (whole.is_object() && text_at(whole, "format") == "deltaproof-check") {
    const std::string why = why_not_version(whole, check_report_version, name);
    if (!why.empty()) return refuse(why, exit_bad_input);
    size_t number = 0;
    for (const json& failure : whole.value("failures", json::array())) {
      const ExitStatus status =
          add_record(failure, fmt::format("{}, failure {}", name, ++number), failing);
      if (status != exit_ok) return status;
    }
    return exit_ok;
  }
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const json record = json::parse(text.substr(at, end - at), nullptr, false);
    ++number;
    at = end + 1;
    if (!record.is_object()) {
      return refuse(fmt::format("{}: line {}: expected a record, a report of check as JSON, or a "
                                "file whose name ends in .case",
                                name, number),
                    exit_bad_input);
    }
    const std::string where = fmt::format("{}, line {}", name, number);
    const std::string outcome = text_at(record, "outcome");
    if (outcome.empty()) {
      return refuse(where + ": it has no outcome, which every record has", exit_bad_input);
    }
    const std::string why = why_not_version(record, record_version, where);
    if (!why.empty()) return refuse(why, exit_bad_input);
    if (outcome != name_of(Outcome::fails) && outcome != name_of(Outcome::engine_error)) continue;
    const ExitStatus status = add_record(record, where, failing);
    if (status != exit_ok) return status;
  }
  return exit_ok;
}

// The saved cases; the records of all failures where there are none.
ExitStatus add_folder(const std::string& path, std::vector<FailingCase>& failing) {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".case") cases.push_back(entry.path().string());
  }
  std::sort(cases.begin(), cases.end());
  for (const std::string& file : cases) {
    const ExitStatus status = add_case(file, failing);
    if (status != exit_ok) return status;
  }
  const std::string records = path + "/failures.jsonl";
  std::error_code error;
  if (!cases.empty()) return exit_ok;
  if (fs::is_regular_file(records, error)) return add_records(records, failing);
  return refuse(fmt::format("{}: expected cases or failures.jsonl in it, as check leaves them",
                            printable_path(path)),
                exit_bad_input);
}

}  // namespace

ExitStatus read_questions(const std::string& path, std::vector<FailingCase>& failing) {
  std::error_code error;
  std::vector<FailingCase> found;
  ExitStatus status = exit_ok;
  if (fs::is_directory(path, error)) {
    status = add_folder(path, found);
  } else if (path.ends_with(".case")) {
    status = add_case(path, found);
  } else {
    status = add_records(path, found);
  }
  for (FailingCase& one : found) {
    const auto same = [&](const FailingCase& other) {
      return other.engine == one.engine && other.invariant == one.invariant &&
             print(other.c) == print(one.c);
    };
    if (std::none_of(failing.begin(), failing.end(), same)) failing.push_back(std::move(one));
  }
  return status;
}

}  // namespace gdn
