// The engine `twin`: plain serial float32 by the book.
#include "device/engines/registry.h"
#include "device/twin/engine.h"

namespace gdn {
namespace {

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  return twin::twin_open(twin::twin_operators, shape, options, engine);
}

const gdn_api api = twin::twin_api("twin", open);
const EngineRegistrar self{api};

}  // namespace
}  // namespace gdn
