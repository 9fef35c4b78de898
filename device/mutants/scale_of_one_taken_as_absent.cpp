// Bug: a scale that is given as 1 is taken for one that is not given.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr || args->struct_size != sizeof *args || args->scale != 1.0F) {
    return right_twin().recurrent(engine, args);
  }
  gdn_recurrent_args without = *args;
  without.scale_is_given = 0;
  return right_twin().recurrent(engine, &without);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "scale_of_one_taken_as_absent";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "scale_of_one_taken_as_absent",
                            .bug = "a scale given as 1 is replaced by 1 / sqrt(kd)",
                            .op = "delta_rule",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
