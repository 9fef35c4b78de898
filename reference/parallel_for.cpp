// What workers share: how many there may be, and what each gives back at its end.
#include "reference/parallel_for.h"

#include <mpfr.h>

#include <atomic>

namespace gdn {
namespace {

std::atomic<int64_t>& limit() {
  static std::atomic<int64_t> count{std::max<int64_t>(1, std::thread::hardware_concurrency())};
  return count;
}

}  // namespace

int64_t threads_max() { return limit(); }
void set_threads_max(int64_t count) { limit() = std::max<int64_t>(1, count); }

WorkerEnd::~WorkerEnd() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }

}  // namespace gdn
