// The page: its frame, the verdict, and its sections in the order in which they are asked about.
#include <fmt/format.h>

#include "ci/commands.h"
#include "ci/night/page_files.h"
#include "ci/night/report_escaped.h"
#include "ci/night/report_html_parts.h"

namespace gdn {
namespace {

// A browser runs the two scripts of the page and nothing else, and asks no one for anything, also
// where an escape was forgotten.
std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src {}; script-src {} {}; base-uri 'none'; form-action 'none'",
      page_css_source(), chart_library_source(), page_js_source());
}

std::string head_of(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n",
      policy(), for_html(title), page_css());
}

std::string_view kind_of(NightOutcome outcome) {
  switch (outcome) {
    case NightOutcome::holds:
      return "holds";
    case NightOutcome::fails:
      return "fails";
    default:
      return "partly";
  }
}

std::string first_html(const std::vector<NightStep>& first) {
  if (first.empty()) return paragraph_html("Nothing to do.");
  std::string html = "<ol class=\"first\">\n";
  for (size_t i = 0; i < first.size(); ++i) {
    html += fmt::format("<li>{}\n", for_html(first[i].text));
    if (!first[i].command.empty()) {
      html += copied_html(fmt::format("first-{}", i + 1), visible(first[i].command), "command");
    }
    html += "</li>\n";
  }
  return html + "</ol>\n";
}

std::string verdict_html(const NightReport& report) {
  const Night& night = report.night;
  const NightVerdict verdict = verdict_of(report);
  std::string html = fmt::format(
      "<header class=\"verdict {0}\">\n<p class=\"night\">deltaproof · night of "
      "<time datetime=\"{1}\">{2}</time></p>\n<h1><span class=\"badge {0}\">{3}</span> {4}</h1>\n",
      kind_of(verdict.outcome), for_html(night.began), for_html(date_of(night.began)),
      for_html(name_of(verdict.outcome)), for_html(verdict.sentence));
  html += fmt::format("<p class=\"commit\"><code>{}</code> {}</p>\n",
                      for_html(short_commit(night.commit)), for_html(night.subject));
  html += "<h2 id=\"first\">What to do first</h2>\n" + first_html(verdict.first);
  return html + "</header>\n";
}

std::string sections_html(const std::vector<HtmlSection>& sections) {
  std::string nav = "<nav aria-label=\"Sections\"><ul>\n", main;
  for (const HtmlSection& section : sections) {
    if (section.html.empty()) continue;
    nav += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, section.title);
    main +=
        fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                    section.id, section.title, section.html);
  }
  return nav + "</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n" + main + "</main>\n";
}

}  // namespace

std::string as_html(const NightReport& report) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  const std::string sections =
      sections_html({findings_section(report), changes_section(report), missing_section(report),
                     heat_section(report), operators_section(report, figures),
                     invariants_section(report), mutants_section(report),
                     bench_section(report, figures), coverage_section(report), fuzz_section(report),
                     stages_section(report), nights_section(report), about_section(report)});
  const NightVerdict verdict = verdict_of(report);
  std::string html = head_of(fmt::format("{}: deltaproof, night of {}", name_of(verdict.outcome),
                                         date_of(report.night.began)));
  html += "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n";
  if (chart_library().empty()) {
    html +=
        "<p class=\"note\">There are no charts: libjs-chart.js was not installed where this "
        "deltaproof was built. The tables have every figure.</p>\n";
  }
  html += verdict_html(report) + sections;
  html += fmt::format("<footer><p>Written by {}. It needs no network.</p></footer>\n",
                      for_html(version_text()));
  html += "<p id=\"said\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></p>\n";
  html += fmt::format("<script type=\"application/json\" id=\"figures\">{}</script>\n",
                      json_for_html(figures));
  // One after the other, since the text of a script is not fmt's.
  html.append("<script>").append(chart_library()).append("</script>\n");
  html.append("<script>").append(page_js()).append("</script>\n");
  return html + "</body>\n</html>\n";
}

}  // namespace gdn
