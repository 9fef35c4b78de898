// The files of ci/night/page, and the library that draws charts, as they were when this was built.
#pragma once

#include <string_view>

namespace gdn {

std::string_view page_css();
std::string_view page_js();
// Chart.js, one classic script; empty where it was not there when this was built.
std::string_view chart_library();

// By which a Content-Security-Policy allows each of them: 'sha256-...' of exactly these bytes.
std::string_view page_css_source();
std::string_view page_js_source();
std::string_view chart_library_source();

}  // namespace gdn
