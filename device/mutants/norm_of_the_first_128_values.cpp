// Bug: 128 threads square a value each and nobody those beyond, whose squares are missing from the
// mean.
#include <cmath>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  constexpr int64_t threads = 128;
  std::vector<float> o(in.o, in.o + in.heads * in.dim), z(in.z, in.z + in.heads * in.dim);
  twin::gated_norm(in, y);
  if (in.dim <= threads) return;
  for (int64_t head = 0; head < in.heads; ++head) {
    float sum = 0;
    for (int64_t j = 0; j < threads; ++j) sum += o[head * in.dim + j] * o[head * in.dim + j];
    const float norm = std::sqrt(sum / static_cast<float>(in.dim) + in.eps);
    for (int64_t j = 0; j < in.dim; ++j) {
      const float gate = z[head * in.dim + j];
      y[head * in.dim + j] =
          o[head * in.dim + j] / norm * in.w[j] * (gate / (1.0F + std::exp(-gate)));
    }
  }
}

const MutantRegistrar self{{.name = "norm_of_the_first_128_values",
                            .bug = "squares of values beyond 128 are missing from the norm's mean",
                            .op = "gated_norm",
                            .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>(
                                "norm_of_the_first_128_values")}};

}  // namespace
}  // namespace gdn::mutants
