// A state whose memory is taken for the other layout than it has.
#pragma once

#include "ci/state_layout.h"
#include "ci/triage/right_of.h"

namespace gdn {

// What a delta rule gives that reads the state as [vd][kd] and writes it so.
inline FaultyArrays right_of_transposed(const Evidence& at, const OperatorRun& run) {
  Evidence other = at;
  for (auto* arrays : {&other.fed, &other.gave}) {
    const auto S = arrays->find("S");
    if (S != arrays->end()) S->second = taken_as_vk(S->second, run.shape);
  }
  FaultyArrays right = right_of(other, run);
  Bounded& S = right["S"];
  S.value = put_as_vk(S.value, run.shape);
  if (!S.bound.empty()) S.bound = put_as_vk(S.bound, run.shape);
  return right;
}

}  // namespace gdn
