// Greedy descent over Case::neighbours.
#include "invariants/harness/shrink.h"

#include <set>
#include <string>

namespace gdn {

Shrunk shrink(const Case& c, const std::function<bool(const Case&)>& still_fails,
              size_t tries_max) {
  Shrunk shrunk{c, 0, 0};
  // A neighbour of the last case is often one of this case too.
  std::set<std::string> passed;
  for (bool stepped = true; stepped;) {
    stepped = false;
    for (Case& near : shrunk.smallest.neighbours()) {
      std::string text = print(near);
      if (passed.contains(text)) continue;
      if (shrunk.tried == tries_max) return shrunk;
      ++shrunk.tried;
      if (!still_fails(near)) {
        passed.insert(std::move(text));
        continue;
      }
      ++shrunk.accepted;
      shrunk.smallest = std::move(near);
      stepped = true;
      break;
    }
  }
  return shrunk;
}

}  // namespace gdn
