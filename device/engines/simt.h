// The engine over simulated GPUs: `simt` without checks of accesses, `simt_checked` with all of
// them. Both run the same kernels by the same launches.
#pragma once

#include <memory>

#include "device/host/backend.h"

namespace gdn::host {

Status make_simt(const BackendOptions& options, std::unique_ptr<Backend>* backend);
Status make_simt_checked(const BackendOptions& options, std::unique_ptr<Backend>* backend);

}  // namespace gdn::host
