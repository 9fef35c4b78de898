// The engine `cuda`: device/host over the CUDA runtime. Where the build has no CUDA toolkit, or the
// machine no GPU or driver, make_cuda says GDN_NOT_AVAILABLE and why.
#pragma once

#include <memory>

#include "device/host/backend.h"

namespace gdn::host {

Status make_cuda(const BackendOptions& options, std::unique_ptr<Backend>* backend);

}  // namespace gdn::host
