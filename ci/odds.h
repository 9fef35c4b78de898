// How often the statistical tier is wrong, and what it sees that the proven bound does not:
// measured on drawn projections.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"

namespace gdn {

// One engine, judged as its contract orders sums or as if that were not known.
struct OddsRow {
  std::string engine;
  bool order_known = true;
  bool is_mutant = false;
  // Tensors: those on which a right sum looks odd are left out of `judged`.
  uint64_t judged = 0, left_out = 0, suspicious = 0, beyond_bound = 0;
  uint64_t without_controls = 0;  // suspicious among all of them, had no control been asked
  double worst_ratio = 0;         // of a statistic to its limit, among the judged
};

struct OddsReport {
  std::string command, version;
  uint64_t seed = 0;
  int64_t cases = 0;
  std::vector<OddsRow> rows;
};

// Rows without counts, in the order of the report: the right engines, then the mutants that the
// tier must suspect.
std::vector<OddsRow> odds_rows();
// Adds what one drawn case gives; nothing where it is no projection of float32 activations.
void count(const Case& drawn, const Lab& lab, OddsRow& row);
void add(const OddsRow& more, OddsRow& row);
// The layers that were captured from a public implementation, whose order nobody knows: a row of
// their own, nothing and *why where the files cannot be read.
std::optional<OddsRow> row_of_captures(const std::string& corpus, std::string* why);

std::string as_text(const OddsReport& report);
std::string as_json(const OddsReport& report);
std::string as_markdown(const OddsReport& report);

}  // namespace gdn
