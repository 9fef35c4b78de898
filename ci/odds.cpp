// Counting verdicts of the statistical tier.
#include "ci/odds.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ci/escaped.h"
#include "ci/table.h"
#include "invariants/harness/capture.h"
#include "invariants/harness/invariant.h"
#include "invariants/harness/json_figure.h"
#include "invariants/harness/statistics.h"

namespace gdn {
namespace {

constexpr const char* tier = "projections_round_to_nearest";

TextTable table_of(const OddsReport& report, bool mutants) {
  TextTable table{{"engine", "order of sums", "tensors judged", "left out", "suspicious",
                   "worst statistic/limit"},
                  {}};
  table.header.emplace_back(mutants ? "beyond the proven bound" : "suspicious without controls");
  for (const OddsRow& row : report.rows) {
    if (row.is_mutant != mutants) continue;
    const uint64_t last = mutants ? row.beyond_bound : row.without_controls;
    table.rows.push_back({row.engine, row.order_known ? "declared" : "unknown",
                          fmt::format("{}", row.judged), fmt::format("{}", row.left_out),
                          fmt::format("{}", row.suspicious), fmt::format("{:.3g}", row.worst_ratio),
                          fmt::format("{}", last)});
  }
  return table;
}

// Of the right engines, those rows alone where the control is not the engine's own sum.
std::string in_words(const OddsReport& report) {
  uint64_t judged = 0, suspicious = 0;
  for (const OddsRow& row : report.rows) {
    if (row.is_mutant || row.order_known) continue;
    judged += row.judged;
    suspicious += row.suspicious;
  }
  if (judged == 0) return "no tensor was judged";
  const double tensors = static_cast<double>(judged);
  if (suspicious > 0) {
    return fmt::format(
        "false alarms where the order is unknown: {} of {} tensors, a rate of {:.2g}", suspicious,
        judged, static_cast<double>(suspicious) / tensors);
  }
  // (1 - p)^judged = 0.05.
  return fmt::format(
      "false alarms where the order is unknown: none in {} tensors, with 95 % confidence a rate "
      "below {:.2g}",
      judged, 3 / tensors);
}

void count(const ProjectionErrors& errors, const std::string& tensor, OddsRow& row) {
  const Verdict alone = errors.verdict_without_controls(tensor);
  if (alone.outcome == Outcome::not_applicable) return;
  row.without_controls += alone.outcome == Outcome::suspicious;
  const Verdict verdict = errors.verdict(tensor);
  if (verdict.outcome == Outcome::not_applicable) {
    ++row.left_out;
    return;
  }
  ++row.judged;
  row.suspicious += verdict.outcome == Outcome::suspicious;
  row.worst_ratio = std::max(row.worst_ratio, verdict.worst_ratio);
}

// Each tensor over all tokens, as of an engine.
void count(const LayerCapture& capture, OddsRow& row) {
  const LayerWeights& w = capture.inputs.weights;
  const std::pair<Tensor, const Matrix*> tensors[] = {{Tensor::QKV, &w.qkv},
                                                      {Tensor::Z, &w.z},
                                                      {Tensor::B, &w.b},
                                                      {Tensor::A, &w.a},
                                                      {Tensor::OUT, &w.out}};
  for (const auto& [tensor, matrix] : tensors) {
    ProjectionErrors errors{Reduction{}};
    for (size_t t = 0; t < capture.seen.size(); ++t) {
      const bool is_out = tensor == Tensor::OUT;
      const std::vector<float>& x =
          is_out ? capture.seen[t].at(Tensor::ONORM) : capture.inputs.h[t];
      errors.add(capture.seen[t].at(tensor), matrix->f32, matrix->rows, matrix->cols, x);
    }
    count(errors, std::string(name_of(tensor)), row);
  }
}

}  // namespace

std::optional<OddsRow> row_of_captures(const std::string& corpus, std::string* why) {
  OddsRow row{"torch, as captured", false, false};
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(corpus + "/oracle", error)) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path().string());
  }
  for (const std::string& path : paths) {
    const std::optional<Capture> capture = read_capture(path, why);
    if (!capture) return std::nullopt;
    const auto* layer = std::get_if<LayerCapture>(&capture->content);
    if (layer != nullptr) count(*layer, row);
  }
  if (row.judged == 0) *why = corpus + "/oracle: no layer was judged";
  return row.judged > 0 ? std::optional(row) : std::nullopt;
}

std::vector<OddsRow> odds_rows() {
  std::vector<OddsRow> rows;
  const auto add_rows = [&](const std::string& engine, bool is_mutant) {
    for (const bool known : {true, false}) rows.push_back({engine, known, is_mutant});
  };
  for (const char* engine : {"twin", "simt"}) add_rows(engine, false);
  for (const std::string& mutant : invariant_named(tier)->claim.suspects) {
    add_rows("mutant:" + mutant, true);
  }
  return rows;
}

void count(const Case& drawn, const Lab& lab, OddsRow& row) {
  const Claim& claim = invariant_named(tier)->claim;
  if (drawn.subject == Subject::layer || !claim.applies(drawn)) return;
  // 4-bit products of a mutant of float32 products are right.
  if (row.is_mutant && drawn.weights != Weights::f32) return;
  const Case c = wide_projection(drawn);
  std::optional<Reduction> order;
  if (!row.order_known) order.emplace();
  Verdict why;
  for (const NamedErrors& one : projection_errors(c, lab, order, &why)) {
    const uint64_t judged = row.judged;
    count(one.errors, one.tensor, row);
    if (row.judged == judged) continue;
    if (!row.is_mutant) continue;
    const Verdict bound = within("y", lab.run(c).calls.front().arrays.at("y"),
                                 lab.expect(c).calls.front().arrays.at("y"));
    row.beyond_bound += bound.outcome == Outcome::fails;
  }
}

void add(const OddsRow& more, OddsRow& row) {
  row.judged += more.judged;
  row.left_out += more.left_out;
  row.suspicious += more.suspicious;
  row.beyond_bound += more.beyond_bound;
  row.without_controls += more.without_controls;
  row.worst_ratio = std::max(row.worst_ratio, more.worst_ratio);
}

std::string as_text(const OddsReport& report) {
  return fmt::format("seed {}, {} drawn cases\n\n{}\n{}\n{}\nreplay: {}\n", report.seed,
                     report.cases, as_text(table_of(report, false)),
                     as_text(table_of(report, true)), in_words(report), report.command);
}

std::string as_json(const OddsReport& report) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const OddsRow& row : report.rows) {
    rows.push_back({{"engine", row.engine},
                    {"order_known", row.order_known},
                    {"is_mutant", row.is_mutant},
                    {"judged", row.judged},
                    {"left_out", row.left_out},
                    {"suspicious", row.suspicious},
                    {"suspicious_without_controls", row.without_controls},
                    {"beyond_bound", row.beyond_bound},
                    {"worst_ratio", json_figure(row.worst_ratio)}});
  }
  const ordered_json root = {{"format", "deltaproof-odds"},
                             {"version", 1},
                             {"deltaproof", report.version},
                             {"command", report.command},
                             {"seed", report.seed},
                             {"cases", report.cases},
                             {"alarm_odds_of_tensor", alarm_odds_of_tensor},
                             {"rows", rows}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_markdown(const OddsReport& report) {
  return fmt::format("Written by {}.\n\n{}\n{}.\n\n{}", code_for_markdown(report.command),
                     as_markdown(table_of(report, false)), in_words(report),
                     as_markdown(table_of(report, true)));
}

}  // namespace gdn
