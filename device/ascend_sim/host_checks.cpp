// Every argument of recurrent but what index arrays hold.
#include <array>
#include <cinttypes>
#include <cmath>

#include "device/ascend_sim/host_checks.h"
#include "device/host/sizes.h"
#include "device/host/status.h"
#include "device/twin/formats.h"

namespace gdn::ascend {
namespace {

using host::refuse;

enum class Holds : uint8_t { numbers, float32, int32 };

struct Rule {
  const char* name;
  const gdn_view& view;
  std::vector<int64_t> extents;
  Holds holds;
  bool is_required;
};

bool is_held(Holds what, gdn_format format) {
  switch (what) {
    case Holds::numbers:
      return format == GDN_F32 || format == GDN_BF16 || format == GDN_F16;
    case Holds::float32:
      return format == GDN_F32;
    case Holds::int32:
      return format == GDN_I32;
  }
  return false;
}

bool lies_within(const Rule& rule, int64_t size) {
  int64_t least = rule.view.offset;
  int64_t greatest = rule.view.offset;
  for (size_t d = 0; d < rule.extents.size(); ++d) {
    int64_t reach = 0;
    if (!host::multiply(rule.extents[d] - 1, rule.view.stride[d], &reach)) return false;
    int64_t& end = reach < 0 ? least : greatest;
    if (!host::add(end, reach, &end)) return false;
  }
  return least >= 0 && greatest < size;
}

Seen seen(const Rule& rule, const FindBuffer& find) {
  if (rule.view.buffer == 0) {
    if (rule.is_required) refuse(GDN_INVALID_ARGUMENT, "%s is absent", rule.name);
    return {};
  }
  const Found found = find(rule.view.buffer);
  if (found.data == nullptr) {
    refuse(GDN_NOT_FOUND, "%s: no buffer %" PRIu64, rule.name, rule.view.buffer);
  }
  if (!is_held(rule.holds, rule.view.format)) {
    constexpr const char* expected[] = {"f32, bf16 or f16", "f32", "i32"};
    refuse(GDN_INVALID_ARGUMENT, "%s: format %d, expected %s", rule.name,
           static_cast<int>(rule.view.format), expected[static_cast<size_t>(rule.holds)]);
  }
  if (rule.view.offset < 0) {
    refuse(GDN_INVALID_ARGUMENT, "%s: offset %" PRId64 " is negative", rule.name, rule.view.offset);
  }
  for (const int64_t extent : rule.extents) {
    if (extent == 0) return {rule.view, found.data};
  }
  const int64_t size = found.bytes / twin::element_bytes(rule.view.format);
  if (!lies_within(rule, size)) {
    refuse(GDN_INVALID_ARGUMENT, "%s: the view leaves its buffer of %" PRId64 " elements",
           rule.name, size);
  }
  return {rule.view, found.data};
}

void check_counts(const gdn_recurrent_args& a) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value >= least) return;
    refuse(GDN_INVALID_ARGUMENT, "%s is %" PRId64 ", expected at least %" PRId64, name, value,
           least);
  };
  at_least("num_sequences", a.num_sequences, 0);
  at_least("num_tokens", a.num_tokens, 0);
  at_least("num_k_heads", a.num_k_heads, 1);
  at_least("head_k_dim", a.head_k_dim, 1);
  at_least("num_v_heads", a.num_v_heads, 1);
  at_least("head_v_dim", a.head_v_dim, 1);
  at_least("num_slots", a.num_slots, 0);
  at_least("num_snapshots", a.num_snapshots, 0);
  const auto is_so = [](bool right, const char* why) {
    if (!right) refuse(GDN_INVALID_ARGUMENT, "%s", why);
  };
  is_so(a.num_v_heads % a.num_k_heads == 0, "num_v_heads is no multiple of num_k_heads");
  is_so(a.num_sequences > 0 || a.num_tokens == 0, "there are tokens that belong to no sequence");
  is_so(a.sequences.buffer != 0 || a.num_sequences <= 1, "several sequences, and no coding");
  is_so(a.slots.buffer != 0 || a.num_sequences <= a.num_slots, "more sequences than slots");
  is_so(a.slots.buffer != 0 || a.state_writes != GDN_WRITE_EVERY_TOKEN,
        "a state for every token, and no slots");
}

void check_choices(const gdn_recurrent_args& a) {
  const auto one_of = [](const char* name, int value, int last) {
    if (value >= 0 && value <= last) return;
    refuse(GDN_INVALID_ARGUMENT, "%s is %d, expected 0..%d", name, value, last);
  };
  one_of("sequence_coding", static_cast<int>(a.sequence_coding), GDN_START_AND_LENGTHS);
  one_of("state_writes", static_cast<int>(a.state_writes), GDN_WRITE_LAST);
  one_of("padding", static_cast<int>(a.padding), GDN_NO_PADDING);
  one_of("qk_norm", static_cast<int>(a.qk_norm), GDN_QK_NORM_MEAN_EPS);
  const bool norms = a.qk_norm != GDN_QK_NORM_NONE;
  if (norms && !(std::isfinite(a.qk_norm_eps) && a.qk_norm_eps >= 0)) {
    refuse(GDN_INVALID_ARGUMENT, "qk_norm_eps is negative or not finite");
  }
  if (a.scale_is_given != 0 && !std::isfinite(a.scale)) {
    refuse(GDN_INVALID_ARGUMENT, "scale is not finite");
  }
}

}  // namespace

IndexArrays check_arguments(const gdn_recurrent_args& a, const FindBuffer& find, HostPlan* plan) {
  check_counts(a);
  check_choices(a);
  const int64_t N = a.num_sequences;
  const int64_t T = a.num_tokens;
  int64_t kept = 0;
  int64_t bounds = N;
  if (!host::multiply(a.num_snapshots, N, &kept) ||
      (a.sequence_coding != GDN_LENGTHS && !host::add(N, 1, &bounds))) {
    refuse(GDN_INVALID_ARGUMENT, "num_sequences or num_snapshots overflows 64 bits");
  }
  const int64_t rows = a.state_is_vk != 0 ? a.head_v_dim : a.head_k_dim;
  const int64_t cols = a.state_is_vk != 0 ? a.head_k_dim : a.head_v_dim;
  const int64_t indices = a.state_writes == GDN_WRITE_EVERY_TOKEN ? T : N;
  const auto of = [&](const char* name, const gdn_view& view, std::vector<int64_t> extents,
                      Holds holds, bool is_required) {
    return seen({name, view, std::move(extents), holds, is_required}, find);
  };
  constexpr auto numbers = Holds::numbers;
  plan->q = of("q", a.q, {T, a.num_k_heads, a.head_k_dim}, numbers, true);
  plan->k = of("k", a.k, {T, a.num_k_heads, a.head_k_dim}, numbers, true);
  plan->v = of("v", a.v, {T, a.num_v_heads, a.head_v_dim}, numbers, true);
  plan->g = of("g", a.g, {T, a.num_v_heads}, Holds::float32, false);
  plan->gk = of("gk", a.gk, {T, a.num_v_heads, a.head_k_dim}, Holds::float32, false);
  plan->beta = of("beta", a.beta, {T, a.num_v_heads}, numbers, true);
  plan->o = of("o", a.o, {T, a.num_v_heads, a.head_v_dim}, numbers, true);
  plan->state = of("state", a.state, {a.num_slots, a.num_v_heads, rows, cols}, numbers, true);
  of("snapshots", a.snapshots, {kept, a.num_v_heads, rows, cols}, numbers,
     a.state_writes == GDN_WRITE_LAST);
  IndexArrays arrays;
  arrays.sequences = of("sequences", a.sequences, {bounds}, Holds::int32, false);
  arrays.slots = of("slots", a.slots, {indices}, Holds::int32, false);
  arrays.accepted = of("accepted", a.accepted, {N}, Holds::int32, false);
  arrays.from_zero = of("from_zero", a.from_zero, {N}, Holds::int32, false);
  return arrays;
}

}  // namespace gdn::ascend
