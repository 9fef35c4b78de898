// Bug: the stride from slot to slot is cut to 32 bits.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  other.state.stride[0] = static_cast<int32_t>(args.state.stride[0]);
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("slot_stride_of_32_bits");
const MutantRegistrar self{{.name = "slot_stride_of_32_bits",
                            .bug = "the stride from slot to slot is cut to 32 bits",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
