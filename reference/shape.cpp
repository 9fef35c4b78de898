// What makes a shape usable: every count positive and small enough, and heads that divide.
#include "reference/shape.h"

#include <cmath>
#include <cstdio>

namespace gdn {
namespace {

// The largest count of elements of a layer is a product of three fields and at most 3 times that
// (conv_dim is a sum of three products), so it stays below 2^62 and never overflows 64 bits.
constexpr int64_t field_max = int64_t{1} << 20;

std::string why_invalid_count(const char* field, int64_t value) {
  if (value >= 1 && value <= field_max) return "";
  return std::string(field) + " is " + std::to_string(value) + "; expected 1 to " +
         std::to_string(field_max);
}

std::string why_invalid_eps(const char* field, float value) {
  if (std::isfinite(value) && value >= 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return std::string(field) + " is " + text + "; expected a finite number, at least 0";
}

}  // namespace

std::string why_invalid(const Shape& shape) {
  const std::string reasons[] = {
      why_invalid_count("hidden_size", shape.hidden_size),
      why_invalid_count("num_k_heads", shape.num_k_heads),
      why_invalid_count("head_k_dim", shape.head_k_dim),
      why_invalid_count("num_v_heads", shape.num_v_heads),
      why_invalid_count("head_v_dim", shape.head_v_dim),
      why_invalid_count("conv_kernel", shape.conv_kernel),
      why_invalid_count("num_layers", shape.num_layers),
      why_invalid_eps("rms_norm_eps", shape.rms_norm_eps),
      why_invalid_eps("l2norm_eps", shape.l2norm_eps),
  };
  for (const std::string& reason : reasons) {
    if (!reason.empty()) return reason;
  }
  if (shape.num_v_heads % shape.num_k_heads != 0) {
    return "num_v_heads is " + std::to_string(shape.num_v_heads) +
           "; expected a multiple of num_k_heads, " + std::to_string(shape.num_k_heads);
  }
  return "";
}

}  // namespace gdn
