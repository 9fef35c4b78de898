// Splits a range over cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace gdn {

// How many threads parallel_for may use at a time, at first as many as there are cores. One in
// processes that share the cores among themselves.
int64_t threads_max();
void set_threads_max(int64_t count);

// MPFR keeps the constants that exp needs, and memory, once a thread. A worker that ends gives
// them back, else they are lost.
struct WorkerEnd {
  WorkerEnd() = default;
  WorkerEnd(const WorkerEnd&) = delete;
  WorkerEnd& operator=(const WorkerEnd&) = delete;
  ~WorkerEnd();
};

// Calls body(begin, end) for disjoint pieces of [0, count), at least `grain` long, on all cores.
// A body that writes only what belongs to its piece gives the same result on any machine.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  const int64_t worth = count / std::max<int64_t>(1, grain);
  const int64_t pieces = worth <= 1 ? 1 : std::min(worth, threads_max());
  std::vector<std::jthread> workers;
  for (int64_t i = 1; i < pieces; ++i) {
    workers.emplace_back([&, i] {
      const WorkerEnd end;
      body(count * i / pieces, count * (i + 1) / pieces);
    });
  }
  body(int64_t{0}, count / pieces);
}

}  // namespace gdn
