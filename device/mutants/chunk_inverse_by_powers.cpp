// Bug: (I + A)^-1 of a chunk is the product of I - A, I + A^2, I + A^4, ...: right in exact
// numbers, but where keys repeat the powers grow beyond all digits before they cancel.
#include "device/mutants/chunked_run.h"

namespace gdn::mutants {
namespace {

using Square = std::vector<float>;

Square times(const Square& a, const Square& b, int64_t n) {
  Square c(a.size());
  for (int64_t i = 0; i < n * n; ++i) {
    c[static_cast<size_t>(i)] = product(a.data() + i / n * n, b.data() + i % n, n, n);
  }
  return c;
}

void solve_by_powers(Chunk& chunk) {
  const int64_t n = chunk.tokens;
  Square power = chunk.weights;
  for (float& x : power) x = -x;
  Square inverse(power.size());
  for (int64_t i = 0; i < n; ++i) inverse[static_cast<size_t>(i * n + i)] = 1;
  for (int64_t m = 1; m < n; m *= 2) {
    const Square more = times(inverse, power, n);
    for (size_t i = 0; i < more.size(); ++i) inverse[i] += more[i];
    power = times(power, power, n);
  }
  const std::vector<float> rows = chunk.rows;
  for (int64_t i = 0; i < n * chunk.vd; ++i) {
    const float* row = inverse.data() + i / chunk.vd * n;
    chunk.rows[static_cast<size_t>(i)] = product(row, rows.data() + i % chunk.vd, n, chunk.vd);
  }
}

const gdn_api api = chunked_twin<right_decay_between, solve_by_powers>("chunk_inverse_by_powers");
const MutantRegistrar self{{.name = "chunk_inverse_by_powers",
                            .bug = "a chunk's triangular matrix is inverted by its powers",
                            .op = "delta_rule",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
