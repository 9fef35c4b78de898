// delta_rule, per v-head i with k-head i / (vh / kh), S [kd][vd]:
//   S <- exp(g) S, row r also times exp(gk[r]);  u = S^T k;  d = beta (v - u);
//   S <- S + k d^T;  o = S^T q with the updated S.
// u and o are serial sums over kd from zero; the columns of S are independent.
#include <cmath>

#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {
namespace {

void decay_state(const DeltaRule& t, int64_t head, float* S) {
  if (t.g != nullptr) {
    const float alpha = t.g_is_linear ? t.g[head] : std::exp(t.g[head]);
    for (int64_t i = 0; i < t.kd * t.vd; ++i) S[i] *= alpha;
  }
  if (t.gk != nullptr) {
    for (int64_t r = 0; r < t.kd; ++r) {
      const float alpha = std::exp(t.gk[head * t.kd + r]);
      for (int64_t j = 0; j < t.vd; ++j) S[r * t.vd + j] *= alpha;
    }
  }
}

// sum[j] = sum over r of S[r][j] x[r]
void times_transposed(const float* S, const float* x, int64_t kd, int64_t vd, float* sum) {
  for (int64_t j = 0; j < vd; ++j) sum[j] = 0;
  for (int64_t r = 0; r < kd; ++r) {
    for (int64_t j = 0; j < vd; ++j) sum[j] += S[r * vd + j] * x[r];
  }
}

}  // namespace

void delta_rule(const DeltaRule& t) {
  for (int64_t head = 0; head < t.vh; ++head) {
    const int64_t k_head = t.head_map_tiled ? head % t.kh : head / (t.vh / t.kh);
    const float* k = t.k + k_head * t.kd;
    const float* q = t.q + k_head * t.kd;
    const float* v = t.v + head * t.vd;
    float* S = t.S + head * t.kd * t.vd;
    float* row = t.o + head * t.vd;  // holds u, then d, then o

    decay_state(t, head, S);
    times_transposed(S, k, t.kd, t.vd, row);
    for (int64_t j = 0; j < t.vd; ++j) row[j] = t.beta[head] * (v[j] - row[j]);
    for (int64_t r = 0; r < t.kd; ++r) {
      for (int64_t j = 0; j < t.vd; ++j) S[r * t.vd + j] += k[r] * row[j];
    }
    times_transposed(S, q, t.kd, t.vd, row);
  }
}

}  // namespace gdn::twin
