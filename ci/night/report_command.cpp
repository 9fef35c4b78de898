// `deltaproof report`: reads a night, asks the history about it, and writes every format.
#include "ci/night/report_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/night/open_history.h"
#include "ci/night/report.h"
#include "ci/night/report_words.h"

namespace gdn {
namespace {

struct ReportFile {
  const char* name;
  std::string (*content)(const NightReport&);
};

constexpr ReportFile report_files[] = {
    {"report.html", as_html}, {"summary.md", as_summary},   {"findings.md", as_findings},
    {"junit.xml", as_junit},  {"findings.sarif", as_sarif}, {"night.json", as_json},
};

std::vector<std::string> paths_of(const ReportCommand& command) {
  std::vector<std::string> paths;
  for (const ReportFile& file : report_files) paths.push_back(command.out + "/" + file.name);
  return paths;
}

std::optional<Night> read_night(const std::string& path, std::string* why) {
  const std::optional<std::string> text = read_bytes(path, why);
  if (!text) return std::nullopt;
  std::string wrong;
  std::optional<Night> night = parse_night(*text, &wrong);
  if (!night) *why = fmt::format("{}: {}", path, wrong);
  return night;
}

// With a night in hand, the history must end with it: what it says of others is no word about this.
std::optional<NightReport> ask_history(const ReportCommand& command,
                                       const std::optional<Night>& night, ExitStatus* status) {
  const std::unique_ptr<History> history = open_history(command.history, status);
  if (!history) return std::nullopt;
  std::string why;
  const auto refused = [&](const std::string& what, ExitStatus whose) {
    *status = refuse(fmt::format("{}: {}", command.history, what), whose);
    return std::nullopt;
  };
  std::optional<HistoryView> view = history->view(command.nights_max, &why, status);
  if (!view) return refused(why, *status);
  if (view->nights.empty()) return refused("there is no night in it", exit_bad_input);
  const std::string latest = view->nights.back().id;
  if (night && night->id != latest) {
    return refused(
        fmt::format("its latest night is {} and not {}: import it first, or report on it "
                    "without a history",
                    latest, night->id),
        exit_bad_input);
  }
  std::optional<Night> whole = night ? night : history->night(latest, &why, status);
  if (!whole) return refused(why, *status);
  return NightReport{*std::move(whole), *std::move(view)};
}

ExitStatus write_all(const ReportCommand& command, const NightReport& report) {
  for (const ReportFile& file : report_files) {
    const std::string why = write_whole(command.out + "/" + file.name, file.content(report));
    if (!why.empty()) return refuse(why, exit_infrastructure);
  }
  const NightVerdict verdict = verdict_of(report);
  to_terminal("{}: {}\n{}/report.html\n", name_of(verdict.outcome), verdict.sentence, command.out);
  return exit_ok;
}

}  // namespace

void add_report(CLI::App& app, ReportCommand& report) {
  CLI::App* const command = app.add_subcommand(
      "report", "a night as a page, and as Markdown, JUnit, SARIF and JSON: docs/report-page.md");
  command->add_option("night", report.night,
                      "its records (default: the latest night of the history)");
  command->add_option("--history", report.history, "the history's file, which has the night");
  command->add_option("--out", report.out, "the folder to write to")->capture_default_str();
  command->add_option("--nights", report.nights_max, "how many nights it looks back")
      ->capture_default_str()
      ->check(CLI::Range(size_t{1}, size_t{1000}));
}

ExitStatus run_report(const ReportCommand& command) {
  if (command.night.empty() && command.history.empty()) {
    return refuse("report: name the records of a night, or --history, or both", exit_bad_input);
  }
  std::error_code error;
  std::filesystem::create_directories(command.out, error);
  const std::string in_the_way =
      why_results_in_the_way(paths_of(command), {command.night, command.history});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable = why_results_not_writable(paths_of(command));
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  std::optional<Night> night;
  if (!command.night.empty()) {
    std::string why;
    night = read_night(command.night, &why);
    if (!night) return refuse(why, exit_bad_input);
  }
  if (command.history.empty()) return write_all(command, report_of(*night));
  ExitStatus status = exit_ok;
  const std::optional<NightReport> report = ask_history(command, night, &status);
  return report ? write_all(command, *report) : status;
}

}  // namespace gdn
