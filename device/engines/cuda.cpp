// The engine `cuda`, by name; cuda.cu or cuda_unavailable.cpp has what is behind it.
#include "device/engines/cuda.h"

#include "device/engines/registry.h"
#include "device/host/api.h"

namespace gdn::host {
namespace {

constexpr char name[] = "cuda";
const EngineRegistrar registered{host_engine<name, make_cuda>()};

}  // namespace
}  // namespace gdn::host
