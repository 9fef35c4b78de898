// Operators by engines: the heat map of worst error/bound, and of each tensor its histogram and its
// figures over the nights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/night/report_escaped.h"
#include "ci/night/report_html_parts.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

// By powers of two, as the histograms have them: how much room is left below the bound.
std::string_view heat_of(double worst) {
  if (!(worst <= 1)) return "heat beyond";
  if (worst > 1.0 / 2) return "heat four";
  if (worst > 1.0 / 4) return "heat three";
  if (worst > 1.0 / 16) return "heat two";
  return worst > 0 ? "heat one" : "heat zero";
}

bool is_of(const DriftChange& change, const TensorName& name, const std::string& engine) {
  return change.kind == "tensor" && change.engine == engine && change.op == name.op &&
         change.tensor == name.tensor;
}

const DriftChange* find_change(const NightReport& report, const TensorName& name,
                               const std::string& engine) {
  for (const DriftChange& change : report.view.changes) {
    if (is_of(change, name, engine)) return &change;
  }
  return nullptr;
}

std::string heat_cell(const NightReport& report, const TensorName& name,
                      const std::string& engine) {
  const NightTensor* tensor = find_tensor(report.night, name, engine);
  if (tensor == nullptr || tensor->samples == 0) return "<td class=\"heat none\">not judged</td>";
  std::string notes;
  if (!(tensor->worst <= 1)) notes += " <small>beyond the bound</small>";
  if (const DriftChange* change = find_change(report, name, engine)) {
    notes += change->alarm ? " <small>moved: alarm</small>" : " <small>moved</small>";
  }
  if (tensor->undecided > 0)
    notes += fmt::format(" <small>{} undecided</small>", tensor->undecided);
  return fmt::format("<td class=\"{}\"><a href=\"#{}\">{}</a>{}</td>", heat_of(tensor->worst),
                     place_of(report, name), ratio_text(tensor->worst), notes);
}

constexpr const char* heat_legend =
    "<p class=\"legend\" aria-hidden=\"true\"><span class=\"heat zero\">0: exact</span> "
    "<span class=\"heat one\">up to 1/16</span> <span class=\"heat two\">up to 1/4</span> "
    "<span class=\"heat three\">up to 1/2</span> <span class=\"heat four\">up to 1: the "
    "bound</span> "
    "<span class=\"heat beyond\">beyond: no rounding</span> "
    "<span class=\"heat none\">not judged</span></p>\n";

std::string heat_head(const std::vector<std::string>& engines) {
  std::string html =
      "<div class=\"scroll\" role=\"region\" aria-label=\"Worst error/bound\" tabindex=\"0\">"
      "<table class=\"map\">\n<caption>Worst error/bound of this night, on the fixed cases. At "
      "most 1 "
      "is rounding.</caption>\n<thead><tr><th scope=\"col\">operator</th>"
      "<th scope=\"col\">tensor</th>";
  for (const std::string& engine : engines) {
    html += fmt::format("<th scope=\"col\">{}</th>", for_html(engine));
  }
  return html + "</tr></thead>\n";
}

// Powers of two from the smallest that an engine has up to the bound and beyond, so that a
// histogram shows how much room is left.
struct Powers {
  int first = -1, last = 0;
  bool zero = false, infinite = false;
};

Powers powers_of(const std::vector<const NightTensor*>& tensors) {
  Powers powers;
  for (const NightTensor* tensor : tensors) {
    powers.zero = powers.zero || tensor->ratios.zero > 0;
    powers.infinite = powers.infinite || tensor->ratios.infinite > 0;
    if (tensor->ratios.powers_of_two.empty()) continue;
    powers.first = std::min(powers.first, tensor->ratios.powers_of_two.begin()->first);
    powers.last = std::max(powers.last, tensor->ratios.powers_of_two.rbegin()->first);
  }
  return powers;
}

std::vector<size_t> counts_of(const RatioCounts& ratios, const Powers& powers) {
  std::vector<size_t> counts;
  if (powers.zero) counts.push_back(ratios.zero);
  for (int exponent = powers.first; exponent <= powers.last; ++exponent) {
    const auto found = ratios.powers_of_two.find(exponent);
    counts.push_back(found == ratios.powers_of_two.end() ? 0 : found->second);
  }
  if (powers.infinite) counts.push_back(ratios.infinite);
  return counts;
}

std::vector<std::string> labels_of(const Powers& powers) {
  std::vector<std::string> labels;
  if (powers.zero) labels.push_back("0");
  for (int exponent = powers.first; exponent <= powers.last; ++exponent) {
    labels.push_back(exponent == 0 ? "1" : fmt::format("2^{}", exponent));
  }
  if (powers.infinite) labels.push_back("inf");
  return labels;
}

std::string histogram_html(const std::string& id, const TensorName& name,
                           const std::vector<const NightTensor*>& tensors, ordered_json& figures) {
  const Powers powers = powers_of(tensors);
  const std::vector<std::string> labels = labels_of(powers);
  ordered_json engines = ordered_json::array();
  HtmlTable table{
      fmt::format("Samples of {} by error/bound, each from its power of two up to the next",
                  name.tensor),
      {"error/bound"},
      {}};
  for (const std::string& label : labels) table.rows.push_back({{label}});
  std::string words = fmt::format("Histogram of error/bound of {} {}. ", name.op, name.tensor);
  for (const NightTensor* tensor : tensors) {
    const std::vector<size_t> counts = counts_of(tensor->ratios, powers);
    ordered_json shares = ordered_json::array();
    table.header.push_back(tensor->engine);
    for (size_t i = 0; i < counts.size(); ++i) {
      shares.push_back(100.0 * static_cast<double>(counts[i]) /
                       static_cast<double>(std::max<size_t>(1, tensor->ratios.samples())));
      table.rows[i].push_back(number_cell(fmt::format("{}", counts[i])));
    }
    engines.push_back({{"engine", visible(tensor->engine)}, {"shares", shares}});
    words += fmt::format("{}: {}, p50 {}, p99 {}, worst {}. ", tensor->engine,
                         counted(tensor->samples, "sample"), ratio_text(tensor->p50),
                         ratio_text(tensor->p99), ratio_text(tensor->worst));
  }
  figures[id] = {{"kind", "histogram"},
                 {"labels", labels},
                 {"bound", -powers.first + (powers.zero ? 1 : 0)},
                 {"engines", engines}};
  return chart_html(id, "Samples by error/bound in this night",
                    words + "The table has the counts.") +
         details_html("Counts", html_of(table));
}

// A logarithmic axis has no place for zero and infinity: the table has.
ordered_json drawn(double value) {
  return value > 0 && std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

const TrendPoint* point_of(const Trend& trend, const std::string& night) {
  for (const TrendPoint& point : trend.points) {
    if (point.night == night) return &point;
  }
  return nullptr;
}

// Its place on the axis; -1 if it is not shown.
int night_of(const NightReport& report, const std::string& id) {
  const Night* night = find_night(report.view, id);
  return night == nullptr ? -1 : static_cast<int>(night - report.view.nights.data());
}

ordered_json engine_trend(const NightReport& report, const Trend& trend, HtmlTable& table) {
  ordered_json p50 = ordered_json::array(), p99 = p50, worst = p50;
  for (const char* figure : {"p50", "p99", "worst"}) {
    table.header.push_back(fmt::format("{} {}", trend.engine, figure));
  }
  for (size_t i = 0; i < report.view.nights.size(); ++i) {
    const TrendPoint* point = point_of(trend, report.view.nights[i].id);
    for (const auto& [values, member] : {std::pair{&p50, &TrendPoint::p50},
                                         {&p99, &TrendPoint::p99},
                                         {&worst, &TrendPoint::worst}}) {
      values->push_back(point == nullptr ? ordered_json(nullptr) : drawn(point->*member));
      table.rows[i].push_back(number_cell(point == nullptr ? "-" : ratio_text(point->*member)));
    }
  }
  return {{"engine", visible(trend.engine)}, {"p50", p50}, {"p99", p99}, {"worst", worst}};
}

std::string exact_words(const std::vector<const NightTensor*>& tensors) {
  std::string words = "Exact in this night: error/bound is 0 in each sample of";
  for (size_t i = 0; i < tensors.size(); ++i) {
    words += fmt::format("{} {} ({})", i == 0 ? "" : ",", tensors[i]->engine, tensors[i]->samples);
  }
  return words + ".";
}

// Of one night there is no trend.
std::string figures_html(const std::vector<const NightTensor*>& tensors) {
  HtmlTable table{"error/bound in this night", {"engine", "p50", "p99", "worst"}, {}};
  for (const NightTensor* tensor : tensors) {
    table.rows.push_back({{tensor->engine},
                          number_cell(ratio_text(tensor->p50)),
                          number_cell(ratio_text(tensor->p99)),
                          number_cell(ratio_text(tensor->worst))});
  }
  return tensors.empty() ? "" : html_of(table);
}

bool is_exact(const NightTensor* tensor) { return tensor->worst == 0; }

std::string trend_html(const NightReport& report, const std::vector<DatedChange>& moves,
                       const std::string& id, const TensorName& name, ordered_json& figures) {
  HtmlTable table{
      fmt::format("error/bound of {} {} by night", name.op, name.tensor), {"night", "commit"}, {}};
  ordered_json nights = ordered_json::array(), engines = ordered_json::array(), steps = engines;
  for (const Night& night : report.view.nights) {
    nights.push_back(visible(date_of(night.began)));
    table.rows.push_back({{date_of(night.began)}, {short_commit(night.commit), "code"}});
  }
  std::string words = fmt::format("error/bound of {} {} over {}. ", name.op, name.tensor,
                                  counted(report.view.nights.size(), "night"));
  bool anything = false;
  for (const std::string& engine : engines_of(report)) {
    const Trend* trend = find_trend(report.view, name, engine);
    if (trend == nullptr || trend->points.empty()) continue;
    engines.push_back(engine_trend(report, *trend, table));
    for (const TrendPoint& point : trend->points) anything = anything || point.worst > 0;
    words += fmt::format("{}: p99 from {} to {}. ", engine, ratio_text(trend->points.front().p99),
                         ratio_text(trend->points.back().p99));
    for (const DatedChange& dated : moves) {
      if (!is_of(dated.change, name, engine)) continue;
      steps.push_back({{"night", night_of(report, dated.night)}, {"alarm", dated.change.alarm}});
      words += dated.change.words + ". ";
    }
  }
  if (engines.empty()) return "";
  const std::string numbers = details_html("Figures by night", html_of(table));
  if (!anything) return paragraph_html("Exact in every night: error/bound is 0.") + numbers;
  figures[id] = {{"kind", "trend"}, {"nights", nights}, {"engines", engines}, {"steps", steps}};
  return chart_html(id, "error/bound over the nights: worst (solid), p99 (dashed), p50 (dotted)",
                    words) +
         numbers;
}

std::string tensor_html(const NightReport& report, const std::vector<DatedChange>& moves,
                        const TensorName& name, ordered_json& figures) {
  const std::string place = place_of(report, name);
  std::string html = fmt::format("<h4 id=\"{}\">{}</h4>\n", place, for_html(name.tensor));
  std::vector<const NightTensor*> tensors;
  for (const std::string& engine : engines_of(report)) {
    const NightTensor* tensor = find_tensor(report.night, name, engine);
    if (tensor != nullptr && tensor->samples > 0) tensors.push_back(tensor);
    const DriftChange* change = find_change(report, name, engine);
    if (change != nullptr) {
      html += fmt::format("<p class=\"moved\"><span class=\"badge {}\">{}</span> {}</p>\n",
                          change->alarm ? "fails" : "partly", change->alarm ? "alarm" : "moved",
                          for_html(change->words));
    }
  }
  html += "<div class=\"pair\"><div>\n";
  const bool exact = std::all_of(tensors.begin(), tensors.end(), is_exact);
  html += tensors.empty() ? paragraph_html("Not judged in this night.")
          : exact         ? paragraph_html(exact_words(tensors))
                          : histogram_html(place + "-histogram", name, tensors, figures);
  html += "</div><div>\n";
  html += report.view.nights.size() < 2
              ? figures_html(tensors)
              : trend_html(report, moves, place + "-trend", name, figures);
  return html + "</div></div>\n";
}

}  // namespace

HtmlSection heat_section(const NightReport& report) {
  const std::vector<std::string> engines = engines_of(report);
  const std::vector<TensorName> names = tensors_of(report);
  if (names.empty()) return {"errors", "Errors by operator and engine", ""};
  std::string html = heat_head(engines);
  for (const std::string& op : operators_of(report)) {
    const auto count = std::count_if(names.begin(), names.end(),
                                     [&](const TensorName& name) { return name.op == op; });
    html += "<tbody>\n";
    bool opened = false;
    for (const TensorName& name : names) {
      if (name.op != op) continue;
      html += "<tr>";
      if (!opened) {
        html += fmt::format("<th scope=\"rowgroup\" rowspan=\"{}\">{}</th>", count, for_html(op));
      }
      opened = true;
      html += fmt::format("<th scope=\"row\">{}</th>", for_html(name.tensor));
      for (const std::string& engine : engines) html += heat_cell(report, name, engine);
      html += "</tr>\n";
    }
    html += "</tbody>\n";
  }
  return {"errors", "Errors by operator and engine", html + "</table></div>\n" + heat_legend};
}

HtmlSection operators_section(const NightReport& report, ordered_json& figures) {
  const std::vector<DatedChange> moves = drift(report.view);
  std::string html;
  for (const std::string& op : operators_of(report)) {
    html += fmt::format("<h3>{}</h3>\n", for_html(op));
    for (const TensorName& name : tensors_of(report)) {
      if (name.op == op) html += tensor_html(report, moves, name, figures);
    }
  }
  return {"operators", "Operators", html};
}

}  // namespace gdn
