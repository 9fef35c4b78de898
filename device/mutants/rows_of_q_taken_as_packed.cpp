// Bug: the rows of q are taken to lie one behind the other, whatever its stride from token to
// token.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  other.q.stride[0] = args.num_k_heads * args.head_k_dim;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("rows_of_q_taken_as_packed");
const MutantRegistrar self{{.name = "rows_of_q_taken_as_packed",
                            .bug = "the rows of q are taken to lie one behind the other",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
