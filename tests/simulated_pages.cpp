// Writes reports of simulated nights into a folder: for the browser test, and to look at.
//   build/dev/tests/simulated_pages out/pages
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "ci/files.h"
#include "ci/night/report.h"
#include "tests/hostile_night.h"
#include "tests/simulated_nights.h"

namespace gdn {
namespace {

int say(const std::string& why) {
  fmt::print(stderr, "simulated_pages: {}\n", why);
  return 5;
}

int write_pages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const PlantedRegressions planted;
  const std::vector<Night> nights = simulated_nights(SOURCE_DIR, planted);
  // By the last night of which they are.
  const std::pair<const char*, size_t> histories[] = {{"holds", planted.nights - 1},
                                                      {"moved", planted.step_at},
                                                      {"finding", planted.finding_from},
                                                      {"without_gpu", planted.without_gpu}};
  for (const auto& [name, last] : histories) {
    std::string why;
    const std::optional<NightReport> report =
        remembered_report({nights.begin(), nights.begin() + static_cast<int64_t>(last) + 1}, &why);
    if (!report) return say(why);
    why = write_whole(fmt::format("{}/{}.html", folder, name), as_html(*report));
    if (!why.empty()) return say(why);
  }
  for (const auto& [name, night] :
       {std::pair{"alone", nights.back()}, {"hostile", hostile_night()}}) {
    const std::string why =
        write_whole(fmt::format("{}/{}.html", folder, name), as_html(report_of(night)));
    if (!why.empty()) return say(why);
  }
  for (size_t i = 0; i < nights.size(); ++i) {
    const std::string why =
        write_whole(fmt::format("{}/night_{:02}.jsonl", folder, i), print(nights[i]));
    if (!why.empty()) return say(why);
  }
  return 0;
}

}  // namespace
}  // namespace gdn

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: simulated_pages FOLDER\n");
    return 2;
  }
  return gdn::write_pages(argv[1]);
}
