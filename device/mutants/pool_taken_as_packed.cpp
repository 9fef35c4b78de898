// Bug: the states of a pool are taken to lie one behind the other.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  const int64_t state = args.num_v_heads * args.head_k_dim * args.head_v_dim;
  // Only where the right one is meant: a wrong stride stays wrong.
  if (args.state.stride[0] > state && args.state.stride[0] < 2 * state + 16) {
    other.state.stride[0] = state;
  }
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("pool_taken_as_packed");
const MutantRegistrar self{{.name = "pool_taken_as_packed",
                            .bug = "the states of a pool are taken to lie one behind the other",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
