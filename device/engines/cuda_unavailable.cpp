// In place of cuda.cu in a build without a CUDA toolkit: the engine is there, and says so.
#include "device/engines/cuda.h"

namespace gdn::host {

Status make_cuda(const BackendOptions&, std::unique_ptr<Backend>*) {
  return failure(GDN_NOT_AVAILABLE, "this program was built without CUDA: no nvcc was found");
}

}  // namespace gdn::host
