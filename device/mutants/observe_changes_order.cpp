// Bug: observed, another kernel normalises, and its sum runs backwards: a watched engine gives
// other bits than one that nobody watches.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm_backwards(const twin::GatedNorm& in, float* y) {
  for (int64_t head = 0; head < in.heads; ++head) {
    const float* o = in.o + head * in.dim;
    const float* z = in.z + head * in.dim;
    float sum = 0;
    for (int64_t i = in.dim; i-- > 0;) sum += o[i] * o[i];
    const float root = std::sqrt(sum / static_cast<float>(in.dim) + in.eps);
    for (int64_t i = 0; i < in.dim; ++i) {
      const float gate = z[i] / (1.0F + std::exp(-z[i]));
      y[head * in.dim + i] = o[i] / root * in.w[i] * gate;
    }
  }
}

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  static const twin::TwinOperators observed = [] {
    twin::TwinOperators table = twin::twin_operators;
    table.gated_norm = gated_norm_backwards;
    return table;
  }();
  const bool observes = options != nullptr && options->observe != 0;
  return twin::twin_open(observes ? observed : twin::twin_operators, shape, options, engine);
}

const gdn_api& api() {
  static const gdn_api table = twin::twin_api("observe_changes_order", open);
  return table;
}
const MutantRegistrar self{{.name = "observe_changes_order",
                            .bug = "the gated norm of an observed engine sums backwards",
                            .op = "gated_norm",
                            .api = &api()}};

}  // namespace
}  // namespace gdn::mutants
