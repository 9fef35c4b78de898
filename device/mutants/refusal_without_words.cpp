// Bug: last_error is empty, whatever was refused.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

const char* last_error(const gdn_engine*) { return ""; }

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "refusal_without_words";
  table.last_error = last_error;
  return table;
}();
const MutantRegistrar self{{.name = "refusal_without_words",
                            .bug = "refusals come without words",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
