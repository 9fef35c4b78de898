// What there is to judge with: invariants with their domains, mutants, and which invariant kills
// which mutant, as tables.
#pragma once

#include <string>
#include <vector>

#include "ci/table.h"
#include "invariants/harness/invariant.h"

namespace gdn {

// The subjects of cases that an invariant can be asked about, and where the answer is not always
// yes, how often: "layer 43 %, recurrent". Tried on cases of the default mix.
std::string domain_of(const Invariant& invariant);

std::string one_line_of(const std::vector<std::string>& names);  // "-" if there are none
TextTable invariants_table();
TextTable mutants_table();
// The entry of a mutant that there is.
const gdn_mutant& mutant_named(const std::string& name);

// What one invariant saw of one mutant over all cases.
struct Cell {
  enum class Seen : char {
    nothing = ' ',       // it never applied
    alive = '.',         // it applied, and did not fail
    suspected = 's',     // never failed, and was suspicious at least once
    engine_error = 'e',  // never failed, and an engine error or a crash at least once
    killed = 'x',
  };
  Seen seen = Seen::nothing;
  bool is_of_before = false;  // an earlier run judged it
  std::string on;             // the case that killed it, or gave the error
  std::string detail;         // of that verdict
};

struct KillMatrix {
  std::string command, version;
  std::vector<std::string> mutants;      // rows
  std::vector<std::vector<Cell>> cells;  // [mutant][invariant], invariants as in the registry
  size_t seeds = 0, drawn = 0;
  std::string before;  // how the earlier run was called and on how many seeds; or empty
};

// Fills the cells of a matrix that an earlier run judged, from what as_json wrote; of mutants and
// invariants that it has no cell for they stay as they are. False, and *why.
bool read_cells(const std::string& path, KillMatrix& matrix, std::string* why);

// How many invariants kill the mutant of a row.
size_t kills_of(const KillMatrix& matrix, size_t row);
// "MUTANT: why", of each that nothing kills, that nothing names, or that an invariant names and
// misses.
std::vector<std::string> problems_of(const KillMatrix& matrix);
std::string as_text(const KillMatrix& matrix);
std::string as_json(const KillMatrix& matrix);
// The part of a document that lists invariants and mutants: nobody keeps such a list by hand.
std::string catalogue_markdown(const KillMatrix& matrix);
inline constexpr const char* catalogue_part = "catalogue";

}  // namespace gdn
