// The operators of a GDN layer as a table of functions. The twin is built from such a table, and a
// numeric mutant is the same table with one entry replaced. Arrays are row-major and float32; an
// output may be one of the inputs where that is said. Formulas stand in <operator>.cpp.
#pragma once

#include <cstdint>

#include "device/gdn.h"

namespace gdn::twin {

struct QkNorm {
  int64_t heads, dim;  // kh, kd
  gdn_qk_norm_form form;
  float eps;
  float scale;  // of q after the norm
};

struct DeltaRule {
  int64_t kh, kd, vh, vd;
  bool head_map_tiled;  // k-head i % kh, in place of i / (vh / kh)
  bool g_is_linear;     // g holds exp(g)
  const float* q;       // [kh][kd]
  const float* k;
  const float* v;     // [vh][vd]
  const float* g;     // [vh] or null
  const float* gk;    // [vh][kd] or null
  const float* beta;  // [vh]
  float* S;           // [vh][kd][vd], in and out
  float* o;           // [vh][vd], overlaps no input
};

struct GatedNorm {
  int64_t heads, dim;  // vh, vd
  float eps;
  const float* o;  // [vh][vd]
  const float* z;  // [vh][vd]
  const float* w;  // [vd]
};

struct TwinOperators {
  // y[r] = sum over c of w[r][c] x[c]
  void (*project_f32)(const float* w, int64_t rows, int64_t cols, const float* x, float* y);
  void (*project_q4)(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y);
  // What x becomes as q8_0 blocks; count is a multiple of 32. rounded may be x.
  void (*round_to_q8)(const float* x, int64_t count, float* rounded);
  // Outputs may be inputs.
  void (*gates)(const float* a, const float* b, const float* A_log, const float* dt_bias,
                int64_t count, float* beta, float* g);
  // hist: [taps-1][channels] oldest first, advanced by x; w: [channels][taps].
  void (*conv)(const float* x, const float* w, int64_t channels, int64_t taps, float* hist,
               float* y);
  // [kh][kd] each; an output may be its own input.
  void (*qk_norm)(const QkNorm& how, const float* q, const float* k, float* q_out, float* k_out);
  void (*delta_rule)(const DeltaRule& token);
  void (*gated_norm)(const GatedNorm& in, float* y);  // y may be o or z
  void (*dequant)(const uint8_t* tiles, int64_t rows, int64_t cols, float* out);
};

// By the book.
extern const TwinOperators twin_operators;

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y);
void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y);
void round_to_q8(const float* x, int64_t count, float* rounded);
void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g);
void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y);
void qk_norm(const QkNorm& how, const float* q, const float* k, float* q_out, float* k_out);
void delta_rule(const DeltaRule& token);
void gated_norm(const GatedNorm& in, float* y);
void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out);

// 1 / sqrt(kd) as the layer scales q: root and quotient each rounded.
float default_q_scale(int64_t head_k_dim);

}  // namespace gdn::twin
