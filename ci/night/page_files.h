// The files of ci/night/page, and the library that draws charts, as they were when this was built.
#pragma once

#include <string_view>

namespace gdn {

std::string_view page_css();
std::string_view page_js();
// Chart.js, one classic script; empty where it was not there when this was built.
std::string_view chart_library();

}  // namespace gdn
