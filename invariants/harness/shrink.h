// From a case that fails to a small one that still does.
#pragma once

#include <cstddef>
#include <functional>

#include "reference/case.h"

namespace gdn {

struct Shrunk {
  Case smallest;
  size_t tried = 0;     // calls of the predicate
  size_t accepted = 0;  // neighbours that were stepped to
};

// Steps to the first neighbour that still fails until none does, or until `tries_max` cases were
// tried. The same case and predicate give the same result.
Shrunk shrink(const Case& c, const std::function<bool(const Case&)>& still_fails, size_t tries_max);

}  // namespace gdn
