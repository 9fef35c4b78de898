// The shape of a GDN layer, and of a stack of equal layers. All counts are of elements.
#pragma once

#include <cstdint>
#include <string>

namespace gdn {

struct Shape {
  int64_t hidden_size = 0;
  int64_t num_k_heads = 0;  // kh
  int64_t head_k_dim = 0;   // kd
  int64_t num_v_heads = 0;  // vh, a multiple of kh
  int64_t head_v_dim = 0;   // vd
  int64_t conv_kernel = 0;  // ck taps; the history holds ck - 1 inputs
  int64_t num_layers = 1;   // nl
  float rms_norm_eps = 1e-6F;
  float l2norm_eps = 1e-6F;

  int64_t k_dim() const { return num_k_heads * head_k_dim; }
  int64_t v_dim() const { return num_v_heads * head_v_dim; }
  int64_t conv_dim() const { return 2 * k_dim() + v_dim(); }
  int64_t v_heads_per_k_head() const { return num_v_heads / num_k_heads; }
  int64_t state_count() const { return num_v_heads * head_k_dim * head_v_dim; }
  int64_t history_count() const { return (conv_kernel - 1) * conv_dim(); }

  friend bool operator==(const Shape&, const Shape&) = default;
};

// What is wrong with a shape, naming the field, its value and what was expected; empty if nothing.
std::string why_invalid(const Shape& shape);

}  // namespace gdn
