// Bug: a block of 128 threads takes a column of the state each, and nobody the columns beyond.
#include <algorithm>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  constexpr int64_t threads = 128;
  const std::vector<float> before(t.S, t.S + t.vh * t.kd * t.vd);
  twin::delta_rule(t);
  if (t.vd <= threads) return;
  for (int64_t row = 0; row < t.vh * t.kd; ++row) {
    const int64_t first = row * t.vd + threads;
    std::copy(before.begin() + first, before.begin() + (row + 1) * t.vd, t.S + first);
  }
  for (int64_t head = 0; head < t.vh; ++head) {
    std::fill(t.o + head * t.vd + threads, t.o + (head + 1) * t.vd, 0.0F);
  }
}

const MutantRegistrar self{
    {.name = "values_beyond_128_left_out",
     .bug = "columns of the state beyond 128 are not updated and give no output",
     .op = "delta_rule",
     .api =
         &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("values_beyond_128_left_out")}};

}  // namespace
}  // namespace gdn::mutants
