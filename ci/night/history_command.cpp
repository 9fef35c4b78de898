// `deltaproof history import`, `list`, `prune` and `export`.
#include "ci/night/history_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/night/drift.h"
#include "ci/night/open_history.h"
#include "ci/table.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

namespace fs = std::filesystem;

// What export --all printed is several nights: a header begins the next one. The first line of each
// is counted from 0.
std::vector<std::pair<size_t, std::string>> nights_in(const std::string& text) {
  constexpr std::string_view header = "{\"record\":\"night\"";
  std::vector<std::pair<size_t, std::string>> nights = {{0, ""}};
  size_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (begin > 0 && text.compare(begin, header.size(), header) == 0) nights.emplace_back(line, "");
    nights.back().second += text.substr(begin, end - begin);
    begin = end;
  }
  return nights;
}

const char* name_of(Stored stored) {
  switch (stored) {
    case Stored::added:
      return "added";
    case Stored::replaced:
      return "replaced";
    case Stored::unchanged:
      return "is there already";
    case Stored::pruned_before:
      return "was pruned before and stays so";
  }
  return "";
}

// Every night of the files, or nothing where one of them is none: files are read before anything is
// stored.
std::optional<std::vector<Night>> read_nights(const std::vector<std::string>& files,
                                              std::string* why) {
  std::vector<Night> nights;
  for (const std::string& path : files) {
    const std::optional<std::string> text = read_bytes(path, why);
    if (!text) return std::nullopt;
    for (const auto& [first_line, part] : nights_in(*text)) {
      std::string wrong;
      std::optional<Night> night = parse_night(part, &wrong);
      if (!night) {
        const std::string of_night =
            first_line == 0 ? "" : fmt::format("the night from line {} on: ", first_line + 1);
        *why = fmt::format("{}: {}{}", path, of_night, wrong);
        return std::nullopt;
      }
      nights.push_back(std::move(*night));
    }
  }
  return nights;
}

struct NightRow {
  const Night* night = nullptr;
  size_t findings = 0, alarms = 0;
};

// How many groups of findings each night has is not part of the view.
std::optional<std::vector<NightRow>> rows_of(History& history, const HistoryView& view,
                                             std::string* why, ExitStatus* status) {
  std::map<std::string, size_t> alarms;
  for (const DatedChange& dated : drift(view)) alarms[dated.night] += dated.change.alarm;
  std::vector<NightRow> rows;
  for (const Night& night : view.nights) {
    const std::optional<size_t> findings = history.findings_of(night.id, why, status);
    if (!findings) return std::nullopt;
    rows.push_back({&night, *findings, alarms[night.id]});
  }
  return rows;
}

std::string list_json(const std::vector<NightRow>& rows) {
  ordered_json list = ordered_json::array();
  for (const NightRow& row : rows) {
    list.push_back({{"id", row.night->id},
                    {"began", row.night->began},
                    {"commit", row.night->commit},
                    {"subject", row.night->subject},
                    {"complete", row.night->complete},
                    {"status", row.night->status},
                    {"findings", row.findings},
                    {"alarms", row.alarms}});
  }
  return list.dump(2) + "\n";
}

std::string list_text(const std::vector<NightRow>& rows) {
  TextTable table;
  table.header = {"began", "commit", "status", "findings", "alarms", "id", "subject"};
  for (const NightRow& row : rows) {
    const Night& night = *row.night;
    table.rows.push_back({night.began, short_commit(night.commit),
                          night.complete ? fmt::format("{}", night.status) : std::string("cut off"),
                          fmt::format("{}", row.findings), fmt::format("{}", row.alarms), night.id,
                          visible(night.subject)});
  }
  return as_text(table);
}

bool is_date(const std::string& text) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  if (text.size() != 10 && text.size() != form.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !is_digit : text[i] != form[i]) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<History> open_history(const std::string& path, ExitStatus* status) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    *status = refuse(path + ": there is no history yet: deltaproof history import makes it",
                     exit_bad_input);
    return nullptr;
  }
  std::string why;
  auto history = History::open(path, &why, status);
  if (!history) refuse(why, *status);
  return history;
}

ExitStatus run_history_import(const HistoryCommand& command) {
  std::string why;
  ExitStatus status = exit_ok;
  const std::optional<std::vector<Night>> nights = read_nights(command.files, &why);
  if (!nights) return refuse(why, exit_bad_input);
  const auto history = History::open(command.db, &why, &status);
  if (!history) return refuse(why, status);
  for (const Night& night : *nights) {
    const std::optional<Stored> stored = history->store(night, &why, &status);
    if (!stored) return refuse(why, status);
    // Said once it cannot be lost any more: whoever reads along may rely on it.
    to_terminal("{}: {}{}\n", night.id, name_of(*stored),
                night.complete ? "" : " (it was cut off)");
    std::fflush(stdout);
  }
  return exit_ok;
}

ExitStatus run_history_list(const HistoryCommand& command) {
  ExitStatus status = exit_ok;
  const auto history = open_history(command.db, &status);
  if (!history) return status;
  std::string why;
  const auto view = history->view(SIZE_MAX, &why, &status);
  if (!view) return refuse(why, status);
  const auto rows = rows_of(*history, *view, &why, &status);
  if (!rows) return refuse(why, status);
  command.json ? fmt::print("{}", list_json(*rows)) : to_terminal("{}", list_text(*rows));
  return exit_ok;
}

ExitStatus run_history_prune(const HistoryCommand& command) {
  if ((command.keep == 0) == command.before.empty()) {
    return refuse("history prune: one of --keep N and --before DATE was expected", exit_bad_input);
  }
  if (!command.before.empty() && !is_date(command.before)) {
    return refuse(fmt::format("--before: expected a date such as 2026-11-30, or a time such as "
                              "2026-11-30T02:00:00Z, got '{}'",
                              command.before),
                  exit_bad_input);
  }
  ExitStatus status = exit_ok;
  const auto history = open_history(command.db, &status);
  if (!history) return status;
  std::string why;
  const auto pruned = history->prune({command.keep, command.before}, &why, &status);
  if (!pruned) return refuse(why, status);
  for (const PrunedNight& night : *pruned) {
    to_terminal("{}: removed, {} of {}\n", night.id, night.began, short_commit(night.commit));
  }
  fmt::print("{} nights removed; since when what fails is kept\n", pruned->size());
  return exit_ok;
}

ExitStatus run_history_export(const HistoryCommand& command) {
  if (command.all && !command.night.empty()) {
    return refuse("history export: one of --night ID and --all was expected", exit_bad_input);
  }
  ExitStatus status = exit_ok;
  const auto history = open_history(command.db, &status);
  if (!history) return status;
  std::string why;
  std::vector<std::string> ids = {command.night};
  if (command.night.empty()) {
    const auto view = history->view(command.all ? SIZE_MAX : 1, &why, &status);
    if (!view) return refuse(why, status);
    ids.clear();
    for (const Night& night : view->nights) ids.push_back(night.id);
  }
  for (const std::string& id : ids) {
    const std::optional<Night> night = history->night(id, &why, &status);
    if (!night) return refuse(why, status);
    const std::string text = print(*night);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (std::fflush(stdout) != 0) return refuse("standard output: disk", exit_infrastructure);
  return exit_ok;
}

}  // namespace gdn
