// Bug: v-head i reads k-head i % kh; seen only where kh > 1, vh > kh and the heads differ.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  twin::DeltaRule tiled = t;
  tiled.head_map_tiled = true;
  twin::delta_rule(tiled);
}

const MutantRegistrar self{
    {.name = "head_map_tiled",
     .bug = "v-heads are mapped to k-heads round-robin in place of in groups",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("head_map_tiled")}};

}  // namespace
}  // namespace gdn::mutants
