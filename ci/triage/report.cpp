// Findings in words.
#include "ci/triage/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/case_files.h"
#include "ci/escaped.h"
#include "ci/tally.h"
#include "ci/triage/finding_json.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

// Causes beyond these are no help to who looks for one.
constexpr size_t causes_shown_max = 3;

std::string counted(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string where_of(const Finding& f) {
  if (f.crashed) return "the engine does not come back";
  std::string where = f.op;
  if (!f.tensor.empty()) where += ", " + f.tensor;
  if (f.call) {
    where += fmt::format(", in call {}, {}", f.call->call + 1, name_of(f.call->kind));
    return f.call->setting.empty() ? where : where + ", " + f.call->setting;
  }
  if (f.token >= 0 && tokens_of(f.smallest) > 0) where += fmt::format(", since token {}", f.token);
  if (f.smallest.shape.num_layers > 1) where += fmt::format(" of layer {}", f.layer);
  return where;
}

std::vector<std::string> causes_of(const Finding& f) {
  std::vector<std::string> causes;
  if (f.call) {
    for (size_t i = 0; i < f.call->causes.size(); ++i) {
      const bool said = i < f.call->sentences.size() && !f.call->sentences[i].empty();
      causes.push_back(f.call->causes[i] + (said ? ": " + f.call->sentences[i] : ""));
    }
  }
  for (const Explanation& e : f.explanations) {
    if (e.elements == 0) {
      causes.push_back(fmt::format("{}: {}, by the engine's own words", e.name, e.sentence));
      continue;
    }
    causes.push_back(fmt::format("{}: {}; all of {} within its bound, error/bound {:.3g}", e.name,
                                 e.sentence, counted(static_cast<int64_t>(e.elements), "number"),
                                 e.worst_ratio));
  }
  if (causes.size() > causes_shown_max) causes.resize(causes_shown_max);
  return causes;
}

std::string size_of(const Finding& f) {
  return fmt::format("{}, {}, in {} from the one that was given",
                     counted(tokens_of(f.smallest), "token"), counted(heads_of(f.smallest), "head"),
                     counted(static_cast<int64_t>(f.steps), "step"));
}

struct Row {
  const char* name;
  std::vector<std::string> lines;
};

std::vector<Row> rows_of(const Finding& f) {
  std::vector<Row> rows = {{"operator", {where_of(f)}}};
  std::vector<std::string> causes = causes_of(f);
  if (causes.empty()) causes = {"no known fault explains these numbers"};
  rows.push_back({"matches", std::move(causes)});
  if (!f.patterns.empty()) rows.push_back({"where", f.patterns});
  if (!f.notes.empty()) rows.push_back({"note", f.notes});
  rows.push_back({"numbers", {f.verdict.detail}});
  if (!f.first_bad.empty()) rows.push_back({"since", {f.first_bad}});
  rows.push_back({"smallest", {size_of(f)}});
  return rows;
}

std::string asked_of(const Finding& f) {
  std::string asked = fmt::format("{} on {}", visible(f.origin), visible(f.engine));
  return f.invariant.empty() ? asked : asked + ", " + visible(f.invariant);
}

bool is_green(const Finding& f) { return f.op.empty(); }

std::string text_of(const Finding& f) {
  if (is_green(f)) {
    const std::string& said = f.verdict.detail;
    return fmt::format("{}\n  {}{}\n\n", asked_of(f), name_of(f.verdict.outcome),
                       said.empty() ? "" : ": " + visible(said));
  }
  std::string text = fmt::format("{}\n{}\n", asked_of(f), visible(title_of(f)));
  for (const Row& row : rows_of(f)) {
    const char* name = row.name;
    for (const std::string& line : row.lines) {
      text += fmt::format("  {:<9} {}\n", name, visible(line));
      name = "";
    }
  }
  const std::string words = in_words(f.smallest);
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find('\n', at), words.size());
    text += "            " + words.substr(at, end - at) + "\n";
    at = end + 1;
  }
  if (!f.replay.empty()) text += fmt::format("  {:<9} {}\n", "replay", visible(f.replay));
  return text + "\n";
}

std::string markdown_of(const Finding& f, const TriageReport& report) {
  std::string text = fmt::format("# {}\n\n", for_markdown(title_of(f)));
  const std::string asked = for_markdown(asked_of(f));
  if (is_green(f)) return text + fmt::format("{}: {}\n\n", asked, name_of(f.verdict.outcome));
  for (const Row& row : rows_of(f)) {
    for (const std::string& line : row.lines) {
      text += fmt::format("* **{}**: {}\n", row.name, for_markdown(line));
    }
  }
  const auto says = report.engines.find(f.engine);
  text +=
      fmt::format("* **environment**: engine {} ({}), {}\n", for_markdown(f.engine),
                  says == report.engines.end() ? "" : for_markdown(says->second), report.version);
  if (!f.replay.empty()) text += fmt::format("\nReplay:\n\n    {}\n", visible(f.replay));
  text += "\nThe smallest case:\n\n```\n" + print(f.smallest) + "```\n\n";
  return text;
}

}  // namespace

std::string cause_of(const Finding& f) {
  if (f.call && !f.call->causes.empty()) return f.call->causes.front();
  return f.explanations.empty() ? "" : f.explanations.front().name;
}

std::string title_of(const Finding& f) {
  if (is_green(f)) return "nothing is out of budget";
  if (f.crashed) return f.verdict.detail;
  std::string title = f.op + " is wrong";
  if (!f.call && f.token > 0) title += fmt::format(" since token {}", f.token);
  if (f.call && !f.call->sentences.empty()) return title + ": " + f.call->sentences.front();
  if (!f.explanations.empty()) return title + ": " + f.explanations.front().sentence;
  return title + (f.tensor.empty() ? "" : ": " + f.tensor + " is out of budget");
}

ExitStatus status_of(const TriageReport& report) {
  Tally tally;
  for (const Finding& f : report.findings) tally.count(f.verdict.outcome);
  return status_of(tally);
}

std::string as_text(const TriageReport& report) {
  std::string text;
  size_t wrong = 0;
  for (const Finding& f : report.findings) {
    text += text_of(f);
    wrong += !is_green(f);
  }
  return text + fmt::format("{}, {} with something wrong\n",
                            counted(std::ssize(report.findings), "case"), wrong);
}

std::string as_markdown(const TriageReport& report) {
  std::string text;
  for (const Finding& f : report.findings) text += markdown_of(f, report);
  return text + fmt::format("Written by {}.\n", code_for_markdown(report.command));
}

std::string as_json(const TriageReport& report) {
  using nlohmann::ordered_json;
  ordered_json findings = ordered_json::array();
  for (const Finding& f : report.findings) {
    ordered_json one = {{"title", title_of(f)}, {"cause", cause_of(f)}};
    one.update(json_of(f));
    const auto says = report.engines.find(f.engine);
    one["environment"] = says == report.engines.end() ? "" : says->second;
    findings.push_back(std::move(one));
  }
  const ordered_json root = {{"format", "deltaproof-triage"}, {"version", triage_report_version},
                             {"deltaproof", report.version},  {"command", report.command},
                             {"status", status_of(report)},   {"findings", findings}};
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
