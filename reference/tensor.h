// The tensors that can be read back from an engine, of the last token processed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "reference/shape.h"

namespace gdn {

// Row-major. The order and the numbers are those of gdn_tensor in the C ABI.
enum class Tensor : uint8_t {
  QKV,    // [conv_dim]        raw projection
  Z,      // [vh][vd]
  A,      // [vh]
  B,      // [vh]
  BETA,   // [vh]
  G,      // [vh]              log domain, <= 0
  CONV,   // [conv_dim]        after conv and SiLU; q, k, v in this order
  Q,      // [kh][kd]          after qk_norm, with its scale
  K,      // [kh][kd]          after qk_norm
  V,      // [vh][vd]          a slice of CONV
  O,      // [vh][vd]          recurrence output
  ONORM,  // [vh][vd]          after the gated norm
  OUT,    // [hidden_size]
  S,      // [vh][kd][vd]      state after the token
  HIST,   // [ck-1][conv_dim]  oldest first; empty at ck = 1
};
inline constexpr int tensor_count = 15;

std::set<Tensor> every_tensor();
std::string_view name_of(Tensor tensor);                    // "QKV", "Z", ...
std::optional<Tensor> tensor_named(std::string_view name);  // exact, upper case
int64_t element_count(Tensor tensor, const Shape& shape);   // of one layer

// The operators, in the order in which a layer applies them; dequant stands apart.
enum class Operator : uint8_t {
  in_proj,
  gates,
  conv,
  qk_norm,
  delta_rule,
  gated_norm,
  out_proj,
  dequant
};
std::string_view name_of(Operator op);
std::optional<Operator> operator_named(std::string_view name);
Operator operator_of(Tensor tensor);  // the one that makes it: QKV -> in_proj, S -> delta_rule, ...

}  // namespace gdn
