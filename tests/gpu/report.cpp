// The report of a GPU run: the findings of all parts and what the script noted, as one JSON file
// and as Markdown for docs/gpu. Facts and statements of the script are lines of tab-separated text.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ci/exit_status.h"
#include "ci/files.h"
#include "ci/table.h"
#include "tests/gpu/commands.h"

namespace gdn::gpu {
namespace {

using nlohmann::ordered_json;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

// NAME<tab>VALUE, or yes|no<tab>TEXT<tab>DETAIL.
void add_lines(const std::string& path, ordered_json& facts, ordered_json& statements) {
  std::istringstream in(text_of(path));
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 2) continue;
    if (fields[0] == "yes" || fields[0] == "no") {
      statements.push_back({{"text", fields[1]},
                            {"holds", fields[0] == "yes"},
                            {"detail", fields.size() > 2 ? fields[2] : ""}});
    } else {
      facts[fields[0]] = fields[1];
    }
  }
}

std::string cell_text(const ordered_json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_integer()) return fmt::format("{}", cell.get<int64_t>());
  return cell.is_number() ? fmt::format("{:.4g}", cell.get<double>()) : "";
}

std::string statements_text(const ordered_json& statements) {
  TextTable table{{"holds", "what", "figures"}, {}};
  for (const ordered_json& s : statements) {
    table.rows.push_back({s["holds"].get<bool>() ? "yes" : "**no**", s["text"].get<std::string>(),
                          s["detail"].get<std::string>()});
  }
  return as_markdown(table);
}

std::string part_text(const ordered_json& part) {
  std::string text = fmt::format("## {}\n\n", part["name"].get<std::string>());
  if (part.contains("engine") && !part["engine"].get<std::string>().empty()) {
    text += fmt::format("Engine {}, {:.0f} s.\n\n", part["engine"].get<std::string>(),
                        part["seconds"].get<double>());
  }
  for (const ordered_json& table : part["tables"]) {
    TextTable plain;
    plain.header = table["header"].get<std::vector<std::string>>();
    for (const ordered_json& row : table["rows"]) {
      std::vector<std::string>& cells = plain.rows.emplace_back();
      for (const ordered_json& cell : row) cells.push_back(cell_text(cell));
    }
    text += fmt::format("**{}**\n\n{}\n", table["title"].get<std::string>(), as_markdown(plain));
  }
  for (const ordered_json& note : part["notes"]) {
    text += fmt::format("```\n{}\n```\n\n", note.get<std::string>());
  }
  return text + statements_text(part["statements"]) + "\n";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// "NVIDIA H200" as the name of a file: nvidia-h200.
std::string file_stem(const std::string& gpu) {
  std::string stem;
  for (const char c : gpu) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (plain) stem += lower;
    if (!plain && !stem.empty() && stem.back() != '-') stem += '-';
  }
  return stem.empty() ? "no-gpu" : stem;
}

std::string markdown_of(const ordered_json& report) {
  const ordered_json& facts = report["facts"];
  std::string text = fmt::format("# {}\n\nWritten by `gpu_check report`; not edited by hand.\n\n",
                                 facts.value("GPU", "no GPU"));
  TextTable about{{"", ""}, {}};
  for (const auto& [name, value] : facts.items()) about.rows.push_back({name, value});
  text += as_markdown(about) + "\n";
  text += fmt::format("{} statements hold, {} do not.\n\n", report["holding"].get<int64_t>(),
                      report["failing"].get<int64_t>());
  text += statements_text(report["statements"]) + "\n";
  for (const ordered_json& part : report["parts"]) text += part_text(part);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

int write_report(const Options& options, const std::string& json) {
  ordered_json facts = {{"commit", options.commit}, {"date", today()}};
  ordered_json statements = ordered_json::array();
  ordered_json parts = ordered_json::array();
  for (const std::string& path : options.paths) {
    if (!path.ends_with(".json")) {
      add_lines(path, facts, statements);
      continue;
    }
    ordered_json part = ordered_json::parse(text_of(path), nullptr, false);
    const bool complete =
        part.is_object() && part.contains("statements") && part.contains("tables");
    if (complete) parts.push_back(std::move(part));
    if (!complete)
      statements.push_back({{"text", path}, {"holds", false}, {"detail", "unreadable"}});
  }
  int64_t holding = 0;
  int64_t failing = 0;
  const auto count = [&](const ordered_json& all) {
    for (const ordered_json& s : all) (s["holds"].get<bool>() ? holding : failing) += 1;
  };
  count(statements);
  for (const ordered_json& part : parts) count(part["statements"]);
  const ordered_json report = {
      {"version", 1},       {"facts", facts},           {"holding", holding},
      {"failing", failing}, {"statements", statements}, {"parts", parts}};
  std::string why = write_whole(json, report.dump(1) + "\n");
  if (why.empty() && !options.markdown.empty()) {
    const std::filesystem::path folder = options.markdown;
    const std::string stem = file_stem(facts.value("GPU", ""));
    why = write_whole((folder / (stem + ".md")).string(), markdown_of(report));
  }
  if (!why.empty()) fmt::print(stderr, "gpu_check: {}\n", why);
  if (!why.empty()) return exit_infrastructure;
  fmt::print("{} statements hold, {} do not\n", holding, failing);
  return failing == 0 && holding > 0 ? exit_ok : exit_fails;
}

}  // namespace gdn::gpu
