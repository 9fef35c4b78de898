// The report of a night in the formats that people and their machines read. Each is a pure function
// of the night and of what history remembers: no clock, no file, no network. docs/report-page.md.
#pragma once

#include <string>

#include "ci/night/history.h"
#include "ci/night/night.h"

namespace gdn {

// Of the JSON. A change that a reader could trip over raises it.
inline constexpr int night_report_version = 1;

struct NightReport {
  Night night;       // every record of the latest night
  HistoryView view;  // that ends with it
};

// Of a night without a history: every finding is new, and nothing has moved.
NightReport report_of(const Night& night);

std::string as_html(const NightReport& report);      // a page that needs nothing but itself
std::string as_summary(const NightReport& report);   // Markdown, for a pull request
std::string as_findings(const NightReport& report);  // Markdown, every finding in full
std::string as_junit(const NightReport& report);
std::string as_sarif(const NightReport& report);
std::string as_json(const NightReport& report);

}  // namespace gdn
