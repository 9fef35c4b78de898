// The engine `ascend_sim`: a tiled operator of an NPU, simulated; docs/ascend-sim.md.
#include "device/ascend_sim/setting.h"
#include "device/engines/registry.h"
#include "device/engines/settings.h"

namespace gdn {
namespace {

const EngineRegistrar self{*ascend::api_of("ascend_sim", {})};
const SettingsRegistrar settings{"ascend_sim", ascend::configured};

}  // namespace
}  // namespace gdn
