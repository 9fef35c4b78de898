// Bug: heads that do not divide are opened with one k-head for all.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  gdn_status status = right_twin().open(shape, options, engine);
  const bool divides =
      shape == nullptr || shape->num_k_heads < 1 || shape->num_v_heads % shape->num_k_heads == 0;
  if (divides) return status;
  gdn_shape one_k_head = *shape;
  one_k_head.num_k_heads = 1;
  status = right_twin().open(&one_k_head, options, engine);
  return status;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "kh_not_dividing_vh_accepted";
  table.open = open;
  return table;
}();
const MutantRegistrar self{
    {.name = "kh_not_dividing_vh_accepted",
     .bug = "a number of v-heads that is no multiple of that of k-heads is accepted",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
