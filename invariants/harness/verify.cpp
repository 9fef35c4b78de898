// Reads a capture, hands it to the part that knows its format, and collects the rows.
#include "invariants/harness/verify.h"

#include <utility>

#include "invariants/harness/verify_parts.h"

namespace gdn {

std::string_view name_of(Scope scope) { return scope == Scope::local ? "local" : "global"; }

void add_row(VerifyReport& report, Scope scope, Judgement judgement) {
  // A row that is of no tokens is one sample.
  const Verdict& verdict = judgement.verdict;
  const bool is_decided = verdict.elements > verdict.undecided;
  if (is_decided && judgement.ratios.samples() == 0) judgement.ratios.add(verdict.worst_ratio);
  report.rows.push_back({scope, std::move(judgement)});
}

bool served(VerifyReport& report, Scope scope, Operator op, const char* tensor,
            const Verdict& conduct) {
  if (conduct.holds()) return true;
  add_row(report, scope, {report.engine, op, tensor, 0, conduct, 0});
  return false;
}

VerifyReport verify(const Capture& capture, const VerifyOptions& options) {
  VerifyReport report;
  report.path = capture.path;
  report.format = capture.format;
  report.source = capture.source;
  if (options.lab != nullptr) {
    report.engine = options.lab->engine();
    report.engine_contract = options.lab->contract().name;
  }
  if (const auto* layer = std::get_if<LayerCapture>(&capture.content)) {
    verify_layer(*layer, options, report);
  } else if (const auto* trace = std::get_if<TraceCapture>(&capture.content)) {
    verify_trace(*trace, options, report);
  } else {
    verify_q4(std::get<Q4Capture>(capture.content), options, report);
  }
  show_progress(options, "done", 1);
  return report;
}

std::optional<VerifyReport> verify_file(const std::string& path, const VerifyOptions& options,
                                        std::string* why) {
  show_progress(options, "reading", 0);
  const auto capture = read_capture(path, why);
  if (!capture) return std::nullopt;
  return verify(*capture, options);
}

}  // namespace gdn
