// Known faults of an operator as formulas: what an engine with exactly this fault gives, worked out
// by the reference. A new form is one file-local object in ci/triage/forms_<operator>.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/triage/evidence.h"

namespace gdn {

// Arrays of Evidence::gave that the fault changes; those that are missing are as in `right`.
using FaultyArrays = std::map<std::string, Bounded>;

struct FaultForm {
  std::string name;      // the bug, as a mutant with it is named
  std::string sentence;  // "the scale of q is applied twice"
  Operator op = Operator::in_proj;
  // Nothing where this token cannot show the fault: it is then as `right` says.
  std::function<std::optional<FaultyArrays>(const Evidence& at, const OperatorRun& run)> expect;
  std::vector<std::string> explains = {};  // mutants that it is the cause of, beside its namesake
  // Forms that differ in a number alone (which length, which constant), this one included: to find
  // one of many that agrees says less.
  double choices = 1;
};

// A number of float32 that is taken from what was given.
inline constexpr double fitted_number = 0x1p24;

// An edge that lies somewhere between two of the numbers given: round ones are few.
inline constexpr double fitted_edge = 64;

// A formula that is possible and that no report of a fault speaks of: it stands behind those that
// explain as much.
inline constexpr double rarely_made = 16;

class RegisteredForm {
 public:
  RegisteredForm(FaultForm form);  // not explicit, so that a file can list its forms
};
// Sorted by operator and name; one name may have several formulas, where a fault can be made so or
// so.
const std::vector<FaultForm>& fault_forms();

// What would explain every number of a run: each within the bound of the fault's own formula, and
// at least one outside that of the right one.
struct Explanation {
  enum class Kind : unsigned char { dialect, form };
  Kind kind = Kind::form;
  std::string name;      // of the form, or "qk_norm=max_norm"
  std::string sentence;  // for people
  double worst_ratio = 0;
  size_t elements = 0;  // compared
  // In bits: by how many powers of two its formula is nearer to the numbers that are wrong than the
  // right one is, over all of them, less what it took to choose it. Higher is better.
  double tightness = 0;
  std::vector<std::string> explains;  // mutants with this fault, its namesake aside
};

// Dialects that differ in one dimension, and forms; best first. Empty: nothing known explains it.
std::vector<Explanation> explanations_of(const OperatorRun& run);

// Is this mutant's bug what the explanation says?
bool is_cause_of(const Explanation& explanation, std::string_view mutant);

}  // namespace gdn
