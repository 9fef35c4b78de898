// Bug: a result of -0 is stored as 0.
#include <cmath>

#include "device/mutants/simt_mutant.h"

namespace gdn::mutants {
namespace {

float wrong(float x) { return x == 0 ? 0.0F : x; }

const gdn_api api = [] {
  gdn_api table = right_simt();
  table.name = "zero_loses_its_sign";
  table.apply = apply_then<wrong>;
  return table;
}();
const MutantRegistrar self{{.name = "zero_loses_its_sign",
                            .bug = "a negative zero is stored as zero",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
