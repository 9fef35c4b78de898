// Faults as text.
#include "device/simt/fault.h"

namespace gdn::simt {
namespace {

std::string text_of(const Place& place) {
  std::string text = "block (" + std::to_string(place.block) + ", " +
                     std::to_string(place.block_y) + ") thread " + std::to_string(place.thread);
  if (place.site.line > 0) {
    text += std::string(" at ") + place.site.file + ":" + std::to_string(place.site.line);
  }
  return text;
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::use_after_free:
      return "use after free";
    case FaultKind::uninitialised_read:
      return "uninitialised read";
    case FaultKind::misaligned:
      return "misaligned access";
    case FaultKind::race:
      return "race";
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::divergent_warp:
      return "divergent warp operation";
    case FaultKind::undefined_shuffle:
      return "undefined shuffle";
    case FaultKind::early_access:
      return "early access";
    case FaultKind::bad_launch:
      return "bad launch";
    case FaultKind::bad_host_access:
      return "bad host access";
  }
  return "unknown fault";
}

std::string Fault::text() const {
  std::string text{name_of(kind)};
  if (!kernel.empty()) text += " in " + kernel;
  if (place) text += ", " + text_of(*place);
  text += ": " + detail;
  if (other) text += "; " + text_of(*other);
  return text;
}

}  // namespace gdn::simt
