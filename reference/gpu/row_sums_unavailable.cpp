// Row sums on a GPU in a build that had no nvcc: there are none.
#include "reference/gpu/row_sums.h"

namespace gdn {

std::unique_ptr<GpuRowSums> GpuRowSums::open(std::string* why) {
  *why = "this program was built without CUDA: no nvcc was found";
  return nullptr;
}

}  // namespace gdn
