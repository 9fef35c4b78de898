// qk_norm, per k-head: x / sqrt(sum x^2 + eps), a serial sum from zero; q times its scale after.
// Other forms: x / max(sqrt(sum x^2), eps); x / sqrt(sum x^2 + kd eps); x as it is.
#include <cmath>

#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {
namespace {

float norm_of(const QkNorm& how, const float* x) {
  if (how.form == GDN_QK_NORM_NONE) return 1.0F;
  float sum = 0;
  for (int64_t i = 0; i < how.dim; ++i) sum += x[i] * x[i];
  switch (how.form) {
    case GDN_QK_NORM_MAX: {
      const float norm = std::sqrt(sum);
      return norm < how.eps ? how.eps : norm;
    }
    case GDN_QK_NORM_MEAN_EPS:
      return std::sqrt(sum + static_cast<float>(how.dim) * how.eps);
    default:
      return std::sqrt(sum + how.eps);
  }
}

}  // namespace

float default_q_scale(int64_t head_k_dim) {
  return 1.0F / std::sqrt(static_cast<float>(head_k_dim));
}

void qk_norm(const QkNorm& how, const float* q, const float* k, float* q_out, float* k_out) {
  for (int64_t head = 0; head < how.heads; ++head) {
    const int64_t begin = head * how.dim;
    const float q_norm = norm_of(how, q + begin);
    const float k_norm = norm_of(how, k + begin);
    for (int64_t i = begin; i < begin + how.dim; ++i) {
      q_out[i] = q[i] / q_norm * how.scale;
      k_out[i] = k[i] / k_norm;
    }
  }
}

}  // namespace gdn::twin
