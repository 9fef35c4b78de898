// `deltaproof panel`: the fixed cases on every engine at hand.
#include <fmt/format.h>

#include <sstream>

#include "ci/case_files.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/night/collect.h"
#include "ci/night/panel.h"
#include "ci/processes.h"
#include "ci/supervised.h"
#include "ci/table.h"
#include "ci/tally.h"

namespace gdn {
namespace {

// What a case came to on an engine, from process to process.
struct Outcomes {
  std::vector<PanelSample> samples;
  Verdict served;
};

std::string packed(const Outcomes& outcomes) {
  std::string text = fmt::format("{}\n{}\n", static_cast<int>(outcomes.served.outcome),
                                 visible(outcomes.served.detail));
  for (const PanelSample& s : outcomes.samples) {
    text += fmt::format("{} {} {} {:a} {} {}\n", s.op, s.tensor, s.is_decided ? 1 : 0, s.ratio,
                        s.undecided, s.hash);
  }
  return text;
}

Outcomes unpacked(std::string_view bytes) {
  Outcomes outcomes;
  std::istringstream text{std::string(bytes)};
  int outcome = 0;
  text >> outcome;
  text.ignore();
  std::getline(text, outcomes.served.detail);
  outcomes.served.outcome = static_cast<Outcome>(outcome);
  PanelSample s;
  std::string ratio;
  while (text >> s.op >> s.tensor >> s.is_decided >> ratio >> s.undecided >> s.hash) {
    s.ratio = std::strtod(ratio.c_str(), nullptr);
    outcomes.samples.push_back(s);
  }
  return outcomes;
}

NightFinding fault_of(const std::string& program, const std::string& engine, const CaseFile& file,
                      const std::string& detail) {
  NightFinding finding;
  finding.invariant = "operators_within_bound";
  const std::optional<Operator> op = operator_of(file.content.subject);
  finding.op = op ? name_of(*op) : "host";
  finding.engine = engine;
  finding.detail = detail;
  finding.case_text = print(file.content);
  finding.replay = fmt::format("{} replay {} --engine {}", shell_word(program),
                               shell_word(file.path), shell_word(engine));
  return finding;
}

// Cases and engines, the cases of one engine side by side.
struct Panel {
  const PanelCommand& command;
  std::vector<CaseFile> cases;
  EnginesHere here;

  std::vector<Outcomes> judge() const {
    std::vector<Outcomes> results(cases.size() * here.engines.size());
    Work work;
    work.tasks = results.size();
    work.run = [&](size_t task, size_t first, Channel& channel) {
      // The process before this one was taken by the engine.
      if (first > 0) return;
      const Lab lab(here.engines[task / cases.size()]);
      channel.begin(0);
      Outcomes outcomes;
      outcomes.samples = panel_samples(cases[task % cases.size()].content, lab, &outcomes.served);
      channel.put(packed(outcomes));
    };
    work.result = [&](size_t task, size_t, std::string_view bytes) {
      results[task] = unpacked(bytes);
    };
    work.crashed = [&](size_t task, size_t, const std::string& how) {
      results[task].served.outcome = Outcome::engine_error;
      results[task].served.detail = how;
    };
    work.done = [](size_t) {};
    share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
    return results;
  }

  void take(const std::string& engine, std::span<const Outcomes> outcomes, Night& night) const {
    std::vector<PanelSample> samples;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const Verdict& served = outcomes[i].served;
      if (served.outcome == Outcome::not_applicable) {
        night.gaps.push_back(
            {fmt::format("{} on engine {}", cases[i].path, engine), served.detail});
      } else if (!served.holds()) {
        night.findings.push_back(fault_of(command.program, engine, cases[i], served.detail));
      }
      samples.insert(samples.end(), outcomes[i].samples.begin(), outcomes[i].samples.end());
    }
    std::vector<NightTensor> rows = panel_rows(engine, samples);
    night.tensors.insert(night.tensors.end(), rows.begin(), rows.end());
  }
};

bool is_beyond(const NightTensor& tensor) { return tensor.worst > 1; }

std::string as_text(const Night& night) {
  TextTable table = {{"engine", "operator", "tensor", "samples", "undecided", "p50", "p99",
                      "worst error/bound", "digest of its numbers"},
                     {}};
  for (const NightTensor& t : night.tensors) {
    table.rows.push_back({t.engine, t.op, t.tensor, std::to_string(t.samples),
                          std::to_string(t.undecided), fmt::format("{:.3g}", t.p50),
                          fmt::format("{:.3g}", t.p99), fmt::format("{:.3g}", t.worst), t.digest});
  }
  std::string text = as_text(table) + "\n";
  for (const NightGap& gap : night.gaps) text += fmt::format("{}: {}\n", gap.what, gap.why);
  for (const NightFinding& f : night.findings) {
    text += fmt::format("{}: {}\n  replay: {}\n", f.engine, f.detail, f.replay);
  }
  if (night.tensors.empty() && night.findings.empty()) {
    return text + "nothing was judged: no engine serves a case of the panel\n";
  }
  const auto fail = std::count_if(night.tensors.begin(), night.tensors.end(), is_beyond);
  return text + fmt::format("{} of {} tensors are beyond their bound, {} cases failed\n", fail,
                            night.tensors.size(), night.findings.size());
}

// Rows hold samples of which something fails: they were beyond their bound.
ExitStatus status_of(const Night& night) {
  if (std::any_of(night.tensors.begin(), night.tensors.end(), is_beyond)) return exit_fails;
  if (!night.findings.empty()) return exit_engine_failed;
  return night.tensors.empty() ? exit_fails : exit_ok;
}

ExitStatus panel_of(const PanelCommand& command, Doing& now) {
  const std::string unwritable = why_results_not_writable({command.records});
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  const std::string corpus = find_corpus();
  if (corpus.empty()) return refuse("there is no folder corpus here", exit_bad_input);
  std::string why;
  Panel panel{command, {}, {}};
  if (!read_cases_below(corpus + "/panel/" + panel_version, panel.cases, &why)) {
    return refuse(why, exit_bad_input);
  }
  now.enter(Doing::Whose::engine, "opening the engines");
  const bool all = command.engines.empty();
  const std::vector<std::string> names =
      all ? std::vector<std::string>{"twin", "simt", "cuda"} : command.engines;
  const ExitStatus found = find_engines(names, all, panel.here);
  if (found != exit_ok) return found;
  now.enter(Doing::Whose::ours, "judging the panel");
  Night night;
  for (const std::string& absent : panel.here.absent) {
    night.gaps.push_back(gap_of("engine ", absent));
  }
  const std::vector<Outcomes> outcomes = panel.judge();
  for (size_t e = 0; e < panel.here.engines.size(); ++e) {
    panel.take(panel.here.engines[e].name,
               std::span(outcomes).subspan(e * panel.cases.size(), panel.cases.size()), night);
  }
  to_terminal("{}", as_text(night));
  if (command.records.empty()) return status_of(night);
  const std::string written = write_whole(command.records, print_records(night));
  return written.empty() ? status_of(night) : refuse(written, exit_infrastructure);
}

}  // namespace

ExitStatus run_panel(const PanelCommand& command) {
  return supervised([&](Doing& now) { return panel_of(command, now); });
}

}  // namespace gdn
