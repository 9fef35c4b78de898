// A claim about an input: where it does not hold the program ends as if it had crashed, so that the
// input is kept.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace gdn {

inline void demand(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", claim);
  std::abort();
}

}  // namespace gdn
