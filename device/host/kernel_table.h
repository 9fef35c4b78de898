// Every kernel under its number, for the one machine whose compiler reads this: nvcc or the
// simulator's. `Entry<kernel>::value` is what that machine keeps of a kernel.
#pragma once

#include <array>

#include "device/host/kernel_id.h"
#include "device/kernels/conv.cuh"
#include "device/kernels/conv_gates_norm.cuh"
#include "device/kernels/delta_rule_norm.cuh"
#include "device/kernels/dequant.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/in_proj_q4.cuh"
#include "device/kernels/q8_activations.cuh"
#include "device/kernels/qk_norm.cuh"
#include "device/kernels/recurrent_packed.cuh"
#include "device/kernels/strided.cuh"

namespace gdn::inline GDN_MACHINE {

template <class Kept, template <auto> class Entry>
constexpr std::array<Kept, host::kernel_count> kernel_table() {
  using host::KernelId;
  std::array<Kept, host::kernel_count> table = {};
  const auto put = [&table](KernelId id, const Kept& kept) {
    table[static_cast<size_t>(id)] = kept;
  };
  put(KernelId::conv, Entry<kernels::conv>::value);
  put(KernelId::conv_gates_norm, Entry<kernels::conv_gates_norm>::value);
  put(KernelId::delta_rule, Entry<kernels::delta_rule>::value);
  put(KernelId::delta_rule_norm, Entry<kernels::delta_rule_norm>::value);
  put(KernelId::dequant, Entry<kernels::dequant>::value);
  put(KernelId::gated_norm, Entry<kernels::gated_norm>::value);
  put(KernelId::gates, Entry<kernels::gates>::value);
  put(KernelId::gemv_f32, Entry<kernels::gemv_f32>::value);
  put(KernelId::gemv_q4, Entry<kernels::gemv_q4>::value);
  put(KernelId::gemv_q4_narrow, Entry<kernels::gemv_q4_narrow>::value);
  put(KernelId::in_proj_q4, Entry<kernels::in_proj_q4>::value);
  put(KernelId::q8_activations, Entry<kernels::q8_activations>::value);
  put(KernelId::qk_norm, Entry<kernels::qk_norm>::value);
  put(KernelId::recurrent, Entry<kernels::recurrent>::value);
  put(KernelId::recurrent_packed, Entry<kernels::recurrent_packed>::value);
  put(KernelId::gather, Entry<kernels::gather>::value);
  return table;
}

}  // namespace gdn::inline GDN_MACHINE
