// Bug: the offset of q is cut to 32 bits.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  other.q.offset = static_cast<int32_t>(args.q.offset);
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("offset_of_q_in_32_bits");
const MutantRegistrar self{{.name = "offset_of_q_in_32_bits",
                            .bug = "the offset of q is cut to 32 bits",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
