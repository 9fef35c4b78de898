// All that an invariant needs: cases, a Lab, verdicts, and how to register itself.
#pragma once

#include <string>
#include <vector>

#include "invariants/harness/draw_calls.h"
#include "invariants/harness/judge.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/made_batches.h"
#include "invariants/harness/made_calls.h"
#include "invariants/harness/model_check.h"
#include "invariants/harness/observation.h"
#include "invariants/harness/projection_roundings.h"
#include "invariants/harness/refused.h"
#include "invariants/harness/relation.h"
#include "invariants/harness/verdict.h"
#include "invariants/harness/worked.h"
#include "reference/case.h"
#include "reference/formats.h"
#include "reference/rng.h"

namespace gdn {

struct Claim {
  const char* claim = "";                  // one sentence that can be false
  bool (*applies)(const Case&) = nullptr;  // cases that it can be asked about
  Verdict (*check)(const Case&, const Lab&) = nullptr;
  std::vector<std::string> kills = {};  // mutants that it must catch, by name
  // Of the statistical tier, mutants that it must suspect.
  std::vector<std::string> suspects = {};
  // A random search judges it on one case in so many, chosen by the case alone; above 1 where a
  // check costs many runs or a large model.
  int64_t one_in = 1;
  // A coverage-guided search, which makes a thousand cases a second, judges it on one in so many of
  // those: of whole layers, where working one out exactly or running it again takes milliseconds,
  // and of all others.
  int64_t searched_layers_one_in = 1;
  int64_t searched_others_one_in = 1;
  // Engines without which it says nothing: those that it can be about, where not all, and those
  // that it needs beside the one it judges. One that never applied is an error where both are here.
  std::vector<std::string> judges = {};
  std::vector<std::string> needs = {};
};

struct Invariant {
  std::string name;  // its file's stem
  Claim claim;
};

// The verdict of one invariant on one case; not_applicable where it does not apply or the engine
// does not serve such cases.
Verdict check(const Invariant& invariant, const Case& c, const Lab& lab);

// Is it asked about a case that a search drew? Of one case in Claim::one_in, whoever draws it.
bool asked(const Invariant& invariant, const Case& c);
// In a coverage-guided search; given the FNV-1a hash of what print says of the case.
bool asked_in_search(const Invariant& invariant, const Case& c, uint64_t text_hash);

// Sorted by name.
const std::vector<Invariant>& registry();
const Invariant* invariant_named(std::string_view name);

// A static object of this type registers the invariant of its file.
class Registered {
 public:
  explicit Registered(Claim claim, const char* file = __builtin_FILE());
};

}  // namespace gdn
