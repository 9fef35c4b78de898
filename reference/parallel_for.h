// Splits a range over all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace gdn {

// Calls body(begin, end) for disjoint pieces of [0, count), at least `grain` long, on all cores.
// A body that writes only what belongs to its piece gives the same result on any machine.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t pieces = std::clamp<int64_t>(count / std::max<int64_t>(1, grain), 1, cores);
  std::vector<std::jthread> workers;
  for (int64_t i = 1; i < pieces; ++i) {
    workers.emplace_back([&, i] { body(count * i / pieces, count * (i + 1) / pieces); });
  }
  body(int64_t{0}, count / pieces);
}

}  // namespace gdn
