// What the fuzz targets on cases share: an input is the text of a case, changed field by field, so
// that an input which crashes is a .case file that people read and `deltaproof replay` takes.
// A target is a file that defines `this_target`; linked with libFuzzer it searches, linked with
// fuzz/replay_main.cpp it runs the files and folders that it is given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/mutate.h"
#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// An engine by name, and on which share of the inputs it is judged: one in so many, chosen by the
// case alone. Above 1 where it is many times slower than the others.
struct JudgedEngine {
  JudgedEngine(const char* engine, int64_t inputs = 1) : name(engine), one_in(inputs) {}
  std::string name;
  int64_t one_in;
};

struct CaseTarget {
  std::string_view about;             // one line
  bool (*serves)(const Case&);        // the cases that it searches among
  Case (*draw)(Rng&);                 // one to begin from
  std::vector<JudgedEngine> engines;  // unless --engine=NAME names others, for every input
  // The invariants that it asks, each about as many inputs as it says; none: all of them.
  std::vector<std::string_view> invariants = {};
  std::vector<Change> changes = {};  // none: the usual ones
};

extern const CaseTarget this_target;

}  // namespace gdn
