// Which mutants random search finds, and after how many cases: each is judged up to the first case
// on which an invariant sees it.
#pragma once

#include <string>
#include <vector>

namespace gdn {

struct MutantLife {
  std::string mutant;
  size_t cases = 0;     // judged, the one that ended it included
  size_t verdicts = 0;  // of all invariants on these cases, without those that did not apply
  std::string killed_by, on, how, detail;  // invariant, case, outcome; empty: it survives
};

struct Survivors {
  std::string command, version;
  size_t seeds = 0, drawn = 0;
  std::vector<MutantLife> lives;
};

std::string as_text(const Survivors& survivors);
std::string as_json(const Survivors& survivors);

}  // namespace gdn
