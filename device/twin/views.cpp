// The check of a view: its buffer exists, holds its format, and contains each element it names.
#include "device/twin/views.h"

#include <cinttypes>

#include "device/twin/engine.h"
#include "device/twin/formats.h"

namespace gdn::twin {
namespace {

// The least and the greatest element that a view of non-empty extents touches.
bool span_of(const ViewRule& rule, int64_t* least, int64_t* greatest) {
  *least = *greatest = rule.view.offset;
  for (int d = 0; d < rule.dimensions; ++d) {
    const auto extent = rule.extents[static_cast<size_t>(d)];
    int64_t reach = 0;
    if (!multiply(extent - 1, rule.view.stride[d], &reach)) return false;
    int64_t* end = reach < 0 ? least : greatest;
    if (!add(*end, reach, end)) return false;
  }
  return true;
}

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

}  // namespace

gdn_status Engine::check_view(const ViewRule& rule) {
  const gdn_view& view = rule.view;
  if (view.buffer == 0) {
    return rule.is_required ? refuse(GDN_INVALID_ARGUMENT, "%s is absent", rule.name) : GDN_OK;
  }
  const auto found = buffers_.find(view.buffer);
  if (found == buffers_.end()) {
    return refuse(GDN_NOT_FOUND, "%s: no buffer %" PRIu64, rule.name, view.buffer);
  }
  if (!holds(rule.holds, view.format)) {
    constexpr const char* expected[] = {"f32, bf16 or f16", "f32", "i32"};
    return refuse(GDN_INVALID_ARGUMENT, "%s: format %d, expected %s", rule.name,
                  static_cast<int>(view.format), expected[static_cast<size_t>(rule.holds)]);
  }
  if (view.offset < 0) {
    return refuse(GDN_INVALID_ARGUMENT, "%s: offset %" PRId64 " is negative", rule.name,
                  view.offset);
  }
  for (const int64_t extent : rule.extents) {
    if (extent == 0) return GDN_OK;
  }
  int64_t least = 0;
  int64_t greatest = 0;
  const int64_t size = found->second.count() / element_bytes(view.format);
  if (!span_of(rule, &least, &greatest) || least < 0 || greatest >= size) {
    return refuse(GDN_INVALID_ARGUMENT, "%s: the view leaves its buffer of %" PRId64 " elements",
                  rule.name, size);
  }
  return GDN_OK;
}

unsigned char* Engine::view_data(const gdn_view& view) {
  return view.buffer == 0 ? nullptr : buffers_.find(view.buffer)->second.data();
}

}  // namespace gdn::twin
