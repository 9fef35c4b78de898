// Float32 evaluations of the delta rule of one head, in many orders and with exp pushed to the edge
// of what its ulp allows: what the bounds must never call wrong. And random tokens for them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "invariants/harness/verdict.h"
#include "reference/recurrence.h"
#include "reference/rng.h"

namespace gdn {

struct FloatStyle {
  enum class Order : uint8_t { serial, pairwise, lanes };
  Order order = Order::serial;
  bool fused = false;   // each multiply-add rounds once
  bool folded = false;  // u = alpha (S^T k)
  double exp_ulp = 2;
  int exp_edge = 0;  // -1, 1: exp is off by exp_ulp downwards, upwards; 0: rounded to nearest
  bool linear_gate = false;  // g holds alpha
  bool flushes = false;      // subnormals are read and written as zeros

  std::string name() const {
    const char* orders[] = {"serial", "pairwise", "lanes"};
    return std::string(orders[static_cast<int>(order)]) + (fused ? " fused" : "") +
           (folded ? " folded" : "") + (flushes ? " flushing" : "") + " exp edge " +
           std::to_string(exp_edge);
  }
};

inline std::vector<FloatStyle> float_styles() {
  std::vector<FloatStyle> styles;
  for (const FloatStyle::Order order :
       {FloatStyle::Order::serial, FloatStyle::Order::pairwise, FloatStyle::Order::lanes}) {
    for (int flags = 0; flags < 4; ++flags) {
      for (int edge = -1; edge <= 1; ++edge) {
        styles.push_back({.order = order,
                          .fused = (flags & 1) != 0,
                          .folded = (flags & 2) != 0,
                          .exp_edge = edge});
      }
    }
  }
  return styles;
}

// exp within c ulp: 2 c u of the result, and 2 c eta where it is subnormal.
inline float float_exp(float x, const FloatStyle& style) {
  const double exact = std::exp(static_cast<double>(x));
  if (style.exp_edge == 0) return static_cast<float>(exact);
  const double lost = exact < 0x1p-126 ? underflow_unit : 0;
  const double off = 2 * style.exp_ulp * (unit_roundoff * exact + lost);
  float result = static_cast<float>(std::max(0.0, exact + style.exp_edge * off));
  if (std::abs(result - exact) > off) {
    result = std::nextafter(result, static_cast<float>(exact));
  }
  return result;
}

inline float kept(float x, const FloatStyle& style) {
  return style.flushes && std::abs(x) < 0x1p-126F ? 0 : x;
}
inline std::vector<float> kept(std::vector<float> x, const FloatStyle& style) {
  for (float& element : x) element = kept(element, style);
  return x;
}

inline float multiply_add(float a, float b, float sum, const FloatStyle& style) {
  if (style.fused) return kept(std::fma(a, b, sum), style);
  return kept(sum + kept(a * b, style), style);
}

inline float float_dot(const float* a, const float* b, size_t n, const FloatStyle& style) {
  if (style.order == FloatStyle::Order::pairwise && n > 1) {
    const size_t half = n / 2;
    return kept(float_dot(a, b, half, style) + float_dot(a + half, b + half, n - half, style),
                style);
  }
  if (style.order != FloatStyle::Order::lanes) {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum = multiply_add(a[i], b[i], sum, style);
    return sum;
  }
  float lanes[32] = {};
  for (size_t i = 0; i < n; ++i) {
    lanes[i % 32] = multiply_add(a[i], b[i], lanes[i % 32], style);
  }
  for (size_t width = 16; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) lanes[i] = kept(lanes[i] + lanes[i + width], style);
  }
  return lanes[0];
}

// One token of one head as an engine gets it.
struct FloatToken {
  std::vector<float> q, k, v;
  std::vector<float> gk;  // log decay per key channel, or empty
  float g = 0, beta = 0;

  TokenInputs inputs() const {
    return {.q = exactly(q),
            .k = exactly(k),
            .v = exactly(v),
            .g = exactly({g}),
            .gk = exactly(gk),
            .beta = exactly({beta})};
  }
};

inline std::vector<TokenInputs> inputs_of(const std::vector<FloatToken>& tokens) {
  std::vector<TokenInputs> inputs;
  for (const FloatToken& token : tokens) inputs.push_back(token.inputs());
  return inputs;
}

// S [kd][vd] becomes the state after the token; returns o.
inline std::vector<float> float_token(std::vector<float>& S, const FloatToken& token,
                                      const FloatStyle& style) {
  const size_t kd = token.k.size(), vd = token.v.size();
  const std::vector<float> q = kept(token.q, style), k = kept(token.k, style);
  const std::vector<float> v = kept(token.v, style);
  const float beta = kept(token.beta, style);
  const float gate = kept(token.g, style);
  const float alpha = style.linear_gate ? gate : kept(float_exp(gate, style), style);
  std::vector<float> channel;
  for (const float gk : token.gk) {
    channel.push_back(kept(float_exp(kept(gk, style), style), style));
  }
  std::vector<float> o(vd), column(kd);
  for (size_t j = 0; j < vd; ++j) {
    for (size_t i = 0; i < kd; ++i) {
      column[i] = kept(kept(S[i * vd + j], style) * (style.folded ? 1 : alpha), style);
      if (!channel.empty()) column[i] = kept(column[i] * channel[i], style);
    }
    const float u = float_dot(column.data(), k.data(), kd, style);
    const float difference =
        style.folded ? multiply_add(-alpha, u, v[j], style) : kept(v[j] - u, style);
    const float d = kept(beta * difference, style);
    for (size_t i = 0; i < kd; ++i) {
      const float decayed = style.folded ? kept(alpha * column[i], style) : column[i];
      column[i] = multiply_add(k[i], d, decayed, style);
      S[i * vd + j] = column[i];
    }
    o[j] = float_dot(column.data(), q.data(), kd, style);
  }
  return o;
}

// What random tokens are like.
struct FloatRegime {
  size_t kd = 8, vd = 2;
  float g = -1;           // every token's log decay
  float beta_centre = 1;  // beta lies within beta_spread of it, and not below 0
  float beta_spread = 0.1F;
  bool equal_keys = false;
  float key_norm = 1;
  float scale = 1;           // of v
  bool per_channel = false;  // also a decay per key channel
};

inline std::vector<float> draw_vector(Rng& rng, size_t count) {
  std::vector<float> x(count);
  for (float& element : x) element = rng.signed_unit() + rng.signed_unit() + rng.signed_unit();
  return x;
}

inline std::vector<float> with_norm(std::vector<float> x, float norm) {
  double squares = 0;
  for (const float element : x) squares += static_cast<double>(element) * element;
  const double factor = squares == 0 ? 0 : norm / std::sqrt(squares);
  for (float& element : x) element = static_cast<float>(element * factor);
  return x;
}

inline std::vector<FloatToken> draw_tokens(Rng& rng, const FloatRegime& regime, size_t count) {
  std::vector<FloatToken> tokens;
  const std::vector<float> key = with_norm(draw_vector(rng, regime.kd), regime.key_norm);
  for (size_t t = 0; t < count; ++t) {
    FloatToken token;
    token.q = with_norm(draw_vector(rng, regime.kd), 1);
    const std::vector<float> own = with_norm(draw_vector(rng, regime.kd), regime.key_norm);
    token.k = regime.equal_keys ? key : own;
    token.v = draw_vector(rng, regime.vd);
    for (float& v : token.v) v *= regime.scale;
    token.g = regime.g;
    for (size_t i = 0; i < regime.kd && regime.per_channel; ++i) {
      token.gk.push_back(regime.g * rng.unit());
    }
    token.beta = std::max(0.0F, regime.beta_centre + regime.beta_spread * rng.signed_unit());
    tokens.push_back(token);
  }
  return tokens;
}

inline std::string text_of(const FloatRegime& regime) {
  return "kd " + std::to_string(regime.kd) + " g " + std::to_string(regime.g) + " beta " +
         std::to_string(regime.beta_centre) + (regime.equal_keys ? " equal keys" : "") + " scale " +
         std::to_string(std::log2(regime.scale));
}

inline std::vector<float> draw_state(Rng& rng, const FloatRegime& regime) {
  std::vector<float> S = draw_vector(rng, regime.kd * regime.vd);
  for (float& s : S) s *= regime.scale;
  return S;
}

// Copies of the inputs as an exact engine would have had them, and bounds that contain the others.
inline Bounded blurred(Rng& rng, std::vector<float>& x, double relative) {
  Bounded all = exactly(x);
  for (size_t i = 0; i < x.size(); ++i) {
    all.bound.push_back(relative * std::abs(x[i]));
    // What the engine really has: anywhere up to the edge, at float32 resolution.
    const float moved = static_cast<float>(x[i] + all.bound[i] * rng.signed_unit());
    if (std::abs(static_cast<double>(moved) - all.value[i]) <= all.bound[i]) x[i] = moved;
  }
  return all;
}

// The token as it stands in the reference, with bounds; `token` becomes what the engine has.
inline TokenInputs blur(Rng& rng, FloatToken& token, double relative) {
  std::vector<float> g{token.g}, beta{token.beta};
  TokenInputs in{.q = blurred(rng, token.q, relative),
                 .k = blurred(rng, token.k, relative),
                 .v = blurred(rng, token.v, relative),
                 .g = blurred(rng, g, relative),
                 .gk = blurred(rng, token.gk, relative),
                 .beta = blurred(rng, beta, relative)};
  token.g = g[0], token.beta = beta[0];
  return in;
}

// The worst ratio of many verdicts, each of which must hold.
struct Worst {
  double ratio = 0;
  std::string where;
  size_t judged = 0, outside = 0;

  void take(const Verdict& verdict, const std::string& what) {
    ++judged;
    if (!verdict.holds() && ++outside <= 3) ADD_FAILURE() << what << ": " << verdict.detail;
    if (verdict.worst_ratio > ratio) ratio = verdict.worst_ratio, where = what;
  }
  void print(const char* name) const {
    std::printf("%-26s worst error/bound %.3f of %zu tensors (%s)\n", name, ratio, judged,
                where.c_str());
    ::testing::Test::RecordProperty(name, std::to_string(ratio));
  }
};

inline Shape one_head(size_t kd, size_t vd) {
  Shape shape;
  shape.num_k_heads = shape.num_v_heads = 1;
  shape.head_k_dim = static_cast<int64_t>(kd);
  shape.head_v_dim = static_cast<int64_t>(vd);
  return shape;
}

}  // namespace gdn
