// Known faults of an operator as formulas: what an engine with exactly this fault gives, worked out
// by the reference. A new form is one file-local object in ci/triage/forms_<operator>.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/evidence.h"

namespace gdn {

// Arrays of Evidence::gave that the fault changes; those that are missing are as in `right`.
using FaultyArrays = std::map<std::string, Bounded>;

struct FaultForm {
  const char* name = "";      // the bug, as a mutant with it is named
  const char* sentence = "";  // "the scale of q is applied twice"
  Operator op = Operator::in_proj;
  // Nothing where this token cannot show the fault.
  std::optional<FaultyArrays> (*expect)(const Evidence& at, const OperatorRun& run) = nullptr;
  std::vector<std::string> explains = {};  // mutants that it is the cause of, beside its namesake
};

class RegisteredForm {
 public:
  explicit RegisteredForm(FaultForm form);
};
const std::vector<FaultForm>& fault_forms();  // sorted by name

// What would explain every number of a run: each within the bound of the fault's own formula, and
// at least one outside that of the right one.
struct Explanation {
  enum class Kind : unsigned char { dialect, form };
  Kind kind = Kind::form;
  std::string name;      // of the form, or "qk_norm=max_norm"
  std::string sentence;  // for people
  double worst_ratio = 0;
  size_t elements = 0;   // compared
  double tightness = 0;  // how much of the right numbers' deviation it accounts for: higher is better
};

// Dialects that differ in one dimension, then forms; best first. Empty: nothing known explains it.
std::vector<Explanation> explanations_of(const OperatorRun& run);

}  // namespace gdn
