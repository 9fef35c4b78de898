// Bug: the kernels store zero where a result is subnormal.
#include <cmath>

#include "device/mutants/simt_mutant.h"

namespace gdn::mutants {
namespace {

float wrong(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

const gdn_api api = [] {
  gdn_api table = right_simt();
  table.name = "subnormal_outputs_flushed";
  table.apply = apply_then<wrong>;
  return table;
}();
const MutantRegistrar self{{.name = "subnormal_outputs_flushed",
                            .bug = "subnormal results are stored as zero",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
