// The kernels that the engine launches, by number; kernel_table.h ties numbers to kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdn::host {

enum class KernelId : uint8_t {
  conv,
  conv_gates_norm,
  delta_rule,
  delta_rule_norm,
  dequant,
  gated_norm,
  gates,
  gemv_f32,
  gemv_q4,
  gemv_q4_narrow,
  in_proj_q4,
  q8_activations,
  qk_norm,
  recurrent,
  recurrent_packed,
  gather,
  count
};
inline constexpr auto kernel_count = static_cast<size_t>(KernelId::count);

}  // namespace gdn::host
