// Tables, commands and charts as HTML. Every text goes through for_html here.
#include "ci/night/report_html_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/night/report_escaped.h"

namespace gdn {
namespace {

std::string content_of(const HtmlCell& cell) {
  std::string text = for_html(cell.text);
  if (cell.kind.starts_with("badge")) {
    text = fmt::format("<span class=\"{}\">{}</span>", cell.kind, text);
  }
  if (cell.href.empty()) return text;
  return fmt::format("<a href=\"#{}\">{}</a>", for_html(cell.href), text);
}

std::string class_of(const HtmlCell& cell) {
  if (cell.kind.empty() || cell.kind.starts_with("badge")) return "";
  return fmt::format(" class=\"{}\"", cell.kind);
}

}  // namespace

std::string html_of(const HtmlTable& table) {
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table>\n"
      "<caption>{0}</caption>\n<thead><tr>",
      for_html(table.caption));
  for (size_t i = 0; i < table.header.size(); ++i) {
    const bool numbers = !table.rows.empty() && i < table.rows.front().size() &&
                         table.rows.front()[i].kind.starts_with("number");
    html += fmt::format("<th scope=\"col\"{}>{}</th>", numbers ? " class=\"number\"" : "",
                        for_html(table.header[i]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<HtmlCell>& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      html += i == 0
                  ? fmt::format("<th scope=\"row\"{}>{}</th>", class_of(row[i]), content_of(row[i]))
                  : fmt::format("<td{}>{}</td>", class_of(row[i]), content_of(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

HtmlCell number_cell(std::string text) { return {std::move(text), "number"}; }

std::string percent_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string copied_html(const std::string& id, const std::string& text, std::string_view what) {
  return fmt::format(
      "<div class=\"copied\"><pre tabindex=\"0\" aria-label=\"{1}\"><code "
      "id=\"{0}\">{2}</code></pre>"
      "<button type=\"button\" class=\"copy\" data-copies=\"{0}\" aria-label=\"Copy the {1}\" "
      "hidden>Copy</button></div>\n",
      for_html(id), for_html(what), lines_for_html(text));
}

std::string details_html(std::string_view summary, const std::string& html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", for_html(summary), html);
}

std::string paragraph_html(std::string_view text) {
  return fmt::format("<p>{}</p>\n", for_html(text));
}

std::string chart_html(const std::string& id, std::string_view caption, std::string_view words) {
  return fmt::format(
      "<figure><figcaption>{1}</figcaption><div class=\"chart\"><canvas id=\"{0}\" role=\"img\" "
      "aria-label=\"{2}\"></canvas></div></figure>\n",
      for_html(id), for_html(caption), for_html(words));
}

std::string place_of(const NightReport& report, const TensorName& name) {
  const std::vector<TensorName> names = tensors_of(report);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return "";
  return fmt::format("tensor-{}", found - names.begin() + 1);
}

}  // namespace gdn
