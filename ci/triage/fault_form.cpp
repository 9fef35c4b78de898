// The registry of fault forms.
#include "ci/triage/fault_form.h"

#include <algorithm>
#include <tuple>

namespace gdn {
namespace {

// In the order of static initialisation, which the first reader sorts.
std::vector<FaultForm>& registered() {
  static std::vector<FaultForm> forms;
  return forms;
}

}  // namespace

RegisteredForm::RegisteredForm(FaultForm form) { registered().push_back(std::move(form)); }

const std::vector<FaultForm>& fault_forms() {
  static const std::vector<FaultForm> sorted = [] {
    std::vector<FaultForm> forms = registered();
    std::sort(forms.begin(), forms.end(), [](const FaultForm& a, const FaultForm& b) {
      return std::tie(a.op, a.name, a.sentence) < std::tie(b.op, b.name, b.sentence);
    });
    return forms;
  }();
  return sorted;
}

bool is_cause_of(const Explanation& explanation, std::string_view mutant) {
  const std::vector<std::string>& names = explanation.explains;
  return explanation.name == mutant || std::find(names.begin(), names.end(), mutant) != names.end();
}

}  // namespace gdn
