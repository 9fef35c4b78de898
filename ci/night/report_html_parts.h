// Pieces of the page. What they take is text, which they escape; what they give is HTML.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ci/night/report_words.h"

namespace gdn {

struct HtmlCell {
  std::string text;
  std::string kind = {};  // of page.css: "number", "badge fails"
  std::string href = {};  // a place of the page
};

struct HtmlTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<HtmlCell>> rows;  // the first cell of each is its header
};
// In a box of its own that scrolls where the page is narrow.
std::string html_of(const HtmlTable& table);

// A number as a cell, and one with its unit.
HtmlCell number_cell(std::string text);
std::string percent_text(double part, double whole);

// A command or a text with a button that copies it. `id` names it on the page.
std::string copied_html(const std::string& id, const std::string& text, std::string_view what);
std::string details_html(std::string_view summary, const std::string& html);
std::string paragraph_html(std::string_view text);

// A place where page.js draws a chart of `figures[id]`; `words` say what it shows.
std::string chart_html(const std::string& id, std::string_view caption, std::string_view words);

struct HtmlSection {
  std::string id, title, html;  // not there if html is empty
};

HtmlSection findings_section(const NightReport& report);
HtmlSection missing_section(const NightReport& report);
HtmlSection heat_section(const NightReport& report);
HtmlSection changes_section(const NightReport& report);
// These two add what their charts show.
HtmlSection operators_section(const NightReport& report, nlohmann::ordered_json& figures);
HtmlSection bench_section(const NightReport& report, nlohmann::ordered_json& figures);
HtmlSection invariants_section(const NightReport& report);
HtmlSection mutants_section(const NightReport& report);
HtmlSection coverage_section(const NightReport& report);
HtmlSection fuzz_section(const NightReport& report);
HtmlSection stages_section(const NightReport& report);
HtmlSection nights_section(const NightReport& report);
HtmlSection about_section(const NightReport& report);

// Where a tensor's figures stand on the page.
std::string place_of(const NightReport& report, const TensorName& name);

}  // namespace gdn
