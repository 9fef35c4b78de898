// What mutants of the kernels are made of: the calls of the right engine on the simulator, of which
// one is wrapped.
#pragma once

#include "device/engines/simt.h"
#include "device/host/api.h"
#include "device/mutants/mutant.h"

namespace gdn::mutants {

inline constexpr char right_simt_name[] = "simt";

inline const gdn_api& right_simt() { return host::host_engine<right_simt_name, host::make_simt>(); }

// Its apply, with `wrong` done to each float32 number that it gives.
template <auto wrong>
gdn_status apply_then(gdn_engine* engine, gdn_operator op, const gdn_shape* shape,
                      const gdn_array* inputs, size_t num_inputs, const gdn_array* outputs,
                      size_t num_outputs) {
  const gdn_status status =
      right_simt().apply(engine, op, shape, inputs, num_inputs, outputs, num_outputs);
  if (status != GDN_OK) return status;
  for (size_t i = 0; i < num_outputs; ++i) {
    float* const numbers = static_cast<float*>(outputs[i].data);
    for (int64_t j = 0; j < outputs[i].count; ++j) numbers[j] = wrong(numbers[j]);
  }
  return status;
}

}  // namespace gdn::mutants
