// Which cases an invariant makes of the one that it is asked about: whoever watches is told of
// every case for which an engine is opened, before it is.
#pragma once

#include <functional>

#include "invariants/harness/lab.h"

namespace gdn {

// Watches the Labs of its thread for as long as it lives; the last one made is told.
class WatchedRuns {
 public:
  using Told = std::function<void(const Lab& lab, const Case& c)>;
  explicit WatchedRuns(Told told);
  ~WatchedRuns();
  WatchedRuns(const WatchedRuns&) = delete;
  WatchedRuns& operator=(const WatchedRuns&) = delete;

  // Of the Lab alone.
  static void tell(const Lab& lab, const Case& c);

 private:
  const Told told_;
  WatchedRuns* const before_;
};

}  // namespace gdn
