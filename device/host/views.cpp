// Views: their elements' places, without a step that could overflow.
#include "device/host/views.h"

#include <cinttypes>

#include "device/host/engine.h"

namespace gdn::host {
namespace {

bool holds(ViewRule::Holds what, gdn_format format) {
  switch (what) {
    case ViewRule::Holds::numbers:
      return format == GDN_F32 || format == GDN_BF16 || format == GDN_F16;
    case ViewRule::Holds::float32:
      return format == GDN_F32;
    case ViewRule::Holds::int32:
      return format == GDN_I32;
  }
  return false;
}

const char* name_of(ViewRule::Holds what) {
  switch (what) {
    case ViewRule::Holds::numbers:
      return "f32, bf16 or f16";
    case ViewRule::Holds::float32:
      return "f32";
    case ViewRule::Holds::int32:
      return "i32";
  }
  return "";
}

// Whether all elements of non-empty extents lie in a buffer of `size` elements.
bool lies_within(const ViewRule& rule, int64_t size) {
  int64_t least = rule.view.offset;
  int64_t greatest = rule.view.offset;
  for (int d = 0; d < rule.dimensions; ++d) {
    const int64_t extent = rule.extents[static_cast<size_t>(d)];
    int64_t reach = 0;
    if (!multiply(extent - 1, rule.view.stride[d], &reach)) return false;
    int64_t& end = reach < 0 ? least : greatest;
    if (!add(end, reach, &end)) return false;
  }
  return least >= 0 && greatest < size;
}

}  // namespace

int64_t element_bytes(gdn_format format) {
  switch (format) {
    case GDN_F32:
    case GDN_I32:
      return 4;
    case GDN_BF16:
    case GDN_F16:
      return 2;
    case GDN_Q4_TILE:
      break;
  }
  return 0;
}

void check(const ViewRule& rule, const BufferBytes& bytes_of) {
  const gdn_view& view = rule.view;
  if (view.buffer == 0) {
    if (rule.is_required) refuse(GDN_INVALID_ARGUMENT, "%s is absent", rule.name);
    return;
  }
  const int64_t bytes = bytes_of(view.buffer);
  if (bytes < 0) {
    refuse(GDN_NOT_FOUND, "%s: no buffer %" PRIu64, rule.name, view.buffer);
  }
  if (!holds(rule.holds, view.format)) {
    refuse(GDN_INVALID_ARGUMENT, "%s: format %d, expected %s", rule.name,
           static_cast<int>(view.format), name_of(rule.holds));
  }
  if (view.offset < 0) {
    refuse(GDN_INVALID_ARGUMENT, "%s: offset %" PRId64 " is negative", rule.name, view.offset);
  }
  for (const int64_t extent : rule.extents) {
    if (extent == 0) return;
  }
  const int64_t size = bytes / element_bytes(view.format);
  if (!lies_within(rule, size)) {
    refuse(GDN_INVALID_ARGUMENT, "%s: the view leaves its buffer of %" PRId64 " elements",
           rule.name, size);
  }
}

unsigned char* Engine::view_data(const gdn_view& view) const {
  return buffers_.find(view.buffer)->second.data();
}

}  // namespace gdn::host
