// Bug: what is written and what is read change places: k q^T in place of q k^T.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::DeltaRule swapped = t;
  swapped.q = t.k;
  swapped.k = t.q;
  twin::delta_rule(swapped);
}

const MutantRegistrar self{
    {.name = "query_taken_as_keys",
     .bug = "the recurrence swaps q and k",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("query_taken_as_keys")}};

}  // namespace
}  // namespace gdn::mutants
