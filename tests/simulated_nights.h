// Nights for tests and for looking at a report: the figures of real runs of the engines here, on
// made-up dates and commits, with two regressions planted among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/night/night.h"
#include "ci/night/report.h"

namespace gdn {

// Indices of nights, from 0.
struct PlantedRegressions {
  size_t nights = 16;
  // Errors of this tensor double on simt, and on cuda with it, from this night on; they stay within
  // the bound.
  std::string op = "gated_norm", tensor = "ONORM";
  size_t step_at = 10;
  // A mutant of the twin is what the twin is in these nights: its finding is there from the first
  // of them and gone with the second.
  size_t finding_from = 4, finding_until = 8;
  // No GPU in this night.
  size_t without_gpu = 6;
};

// Reads captures and runs engines below this root of the tree: a second or two.
std::vector<Night> simulated_nights(const std::string& root,
                                    const PlantedRegressions& planted = {});

// The report of the last of these, with a history of all of them that is gone afterwards.
std::optional<NightReport> remembered_report(const std::vector<Night>& nights, std::string* why);

std::string simulated_commit(size_t night);
std::string simulated_date(size_t night);

}  // namespace gdn
