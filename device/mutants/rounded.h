// Numbers that pass through 16 bits where the contract says float32: the twin's operators with one
// of their arrays rounded.
#pragma once

#include <bit>
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {

inline float as_bf16(float x) {
  return std::bit_cast<float>(uint32_t{twin::float_to_bf16(x)} << 16);
}
inline float as_f16(float x) { return twin::f16_to_float(twin::float_to_f16(x)); }

template <auto round>
void round_all(float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = round(numbers[i]);
}

template <auto round>
std::vector<float> rounded(const float* numbers, int64_t count) {
  std::vector<float> copy(numbers, numbers + count);
  round_all<round>(copy.data(), count);
  return copy;
}

template <auto round>
struct Rounding {
  static void sums_of_products(const float* w, int64_t rows, int64_t cols, const float* x,
                               float* y) {
    twin::project_f32(w, rows, cols, x, y);
    round_all<round>(y, rows);
  }
  static void activations(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
    twin::project_f32(w, rows, cols, rounded<round>(x, cols).data(), y);
  }
  static void weights(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
    twin::project_f32(rounded<round>(w, rows * cols).data(), rows, cols, x, y);
  }
  static void decoded_weights(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x,
                              float* y) {
    std::vector<float> w(static_cast<size_t>(rows * cols));
    twin::dequant(tiles, rows, cols, w.data());
    twin::project_f32(rounded<round>(w.data(), rows * cols).data(), rows, cols, x, y);
  }

  static void beta(const float* a, const float* b, const float* A_log, const float* dt_bias,
                   int64_t count, float* beta_out, float* g) {
    twin::gates(a, b, A_log, dt_bias, count, beta_out, g);
    round_all<round>(beta_out, count);
  }
  static void log_decay(const float* a, const float* b, const float* A_log, const float* dt_bias,
                        int64_t count, float* beta_out, float* g) {
    twin::gates(a, b, A_log, dt_bias, count, beta_out, g);
    round_all<round>(g, count);
  }
  static void gate_inputs(const float* a, const float* b, const float* A_log, const float* dt_bias,
                          int64_t count, float* beta_out, float* g) {
    twin::gates(rounded<round>(a, count).data(), rounded<round>(b, count).data(), A_log, dt_bias,
                count, beta_out, g);
  }

  static void conv_output(const float* x, const float* w, int64_t channels, int64_t taps,
                          float* hist, float* y) {
    twin::conv(x, w, channels, taps, hist, y);
    round_all<round>(y, channels);
  }
  static void conv_history(const float* x, const float* w, int64_t channels, int64_t taps,
                           float* hist, float* y) {
    twin::conv(x, w, channels, taps, hist, y);
    round_all<round>(hist, (taps - 1) * channels);
  }
  // The sum alone, in the twin's order; SiLU is taken of what is left of it.
  static void conv_sum(const float* x, const float* w, int64_t channels, int64_t taps, float* hist,
                       float* y) {
    std::vector<float> sums(static_cast<size_t>(channels));
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (int64_t j = 0; j + 1 < taps; ++j) sum += w[c * taps + j] * hist[j * channels + c];
      sums[c] = round(sum + w[c * taps + taps - 1] * x[c]);
    }
    twin::conv(x, w, channels, taps, hist, y);
    for (int64_t c = 0; c < channels; ++c) y[c] = sums[c] / (1.0F + std::exp(-sums[c]));
  }

  static void query(const twin::QkNorm& how, const float* q, const float* k, float* q_out,
                    float* k_out) {
    twin::qk_norm(how, q, k, q_out, k_out);
    round_all<round>(q_out, how.heads * how.dim);
  }
  static void keys(const twin::QkNorm& how, const float* q, const float* k, float* q_out,
                   float* k_out) {
    twin::qk_norm(how, q, k, q_out, k_out);
    round_all<round>(k_out, how.heads * how.dim);
  }

  static void values(const twin::DeltaRule& t) {
    const std::vector<float> v = rounded<round>(t.v, t.vh * t.vd);
    twin::DeltaRule narrowed = t;
    narrowed.v = v.data();
    twin::delta_rule(narrowed);
  }
  static void state(const twin::DeltaRule& t) {
    twin::delta_rule(t);
    round_all<round>(t.S, t.vh * t.kd * t.vd);
  }
  static void output(const twin::DeltaRule& t) {
    twin::delta_rule(t);
    round_all<round>(t.o, t.vh * t.vd);
  }

  static void normed(const twin::GatedNorm& in, float* y) {
    twin::gated_norm(in, y);
    round_all<round>(y, in.heads * in.dim);
  }
  static void gate(const twin::GatedNorm& in, float* y) {
    const std::vector<float> z = rounded<round>(in.z, in.heads * in.dim);
    twin::GatedNorm narrowed = in;
    narrowed.z = z.data();
    twin::gated_norm(narrowed, y);
  }
};

}  // namespace gdn::mutants
