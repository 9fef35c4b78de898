// Counts, then choices, then views.
#include "device/host/recurrent_checks.h"

#include <cinttypes>
#include <cmath>

#include "device/host/sizes.h"
#include "device/host/status.h"

namespace gdn::host {
namespace {

void check_counts(const gdn_recurrent_args& args) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value >= least) return;
    refuse(GDN_INVALID_ARGUMENT, "%s is %" PRId64 ", expected at least %" PRId64, name, value,
           least);
  };
  at_least("num_sequences", args.num_sequences, 0);
  at_least("num_tokens", args.num_tokens, 0);
  at_least("num_k_heads", args.num_k_heads, 1);
  at_least("head_k_dim", args.head_k_dim, 1);
  at_least("num_v_heads", args.num_v_heads, 1);
  at_least("head_v_dim", args.head_v_dim, 1);
  at_least("num_slots", args.num_slots, 0);
  at_least("num_snapshots", args.num_snapshots, 0);
  if (args.num_v_heads % args.num_k_heads != 0) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " v-heads are no multiple of %" PRId64 " k-heads",
           args.num_v_heads, args.num_k_heads);
  }
  if (args.num_sequences == 0 && args.num_tokens > 0) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " tokens belong to no sequence", args.num_tokens);
  }
  if (args.sequences.buffer == 0 && args.num_sequences > 1) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " sequences, and no coding of them",
           args.num_sequences);
  }
  if (args.slots.buffer == 0 && args.num_sequences > args.num_slots) {
    refuse(GDN_INVALID_ARGUMENT, "%" PRId64 " sequences in %" PRId64 " slots", args.num_sequences,
           args.num_slots);
  }
  if (args.slots.buffer == 0 && args.state_writes == GDN_WRITE_EVERY_TOKEN) {
    refuse(GDN_INVALID_ARGUMENT, "a state for every token, and no slots");
  }
}

void check_choices(const gdn_recurrent_args& args) {
  const auto one_of = [](const char* name, int value, int last) {
    if (value >= 0 && value <= last) return;
    refuse(GDN_INVALID_ARGUMENT, "%s is %d, expected 0..%d", name, value, last);
  };
  one_of("sequence_coding", static_cast<int>(args.sequence_coding), GDN_START_AND_LENGTHS);
  one_of("state_writes", static_cast<int>(args.state_writes), GDN_WRITE_LAST);
  one_of("padding", static_cast<int>(args.padding), GDN_NO_PADDING);
  one_of("qk_norm", static_cast<int>(args.qk_norm), GDN_QK_NORM_MEAN_EPS);
  const bool norms = args.qk_norm != GDN_QK_NORM_NONE;
  if (norms && !(std::isfinite(args.qk_norm_eps) && args.qk_norm_eps >= 0)) {
    refuse(GDN_INVALID_ARGUMENT, "qk_norm_eps is negative or not finite");
  }
  if (args.scale_is_given != 0 && !std::isfinite(args.scale)) {
    refuse(GDN_INVALID_ARGUMENT, "scale is not finite");
  }
}

void check_views(const gdn_recurrent_args& args, const BufferBytes& bytes_of) {
  const int64_t N = args.num_sequences;
  const int64_t T = args.num_tokens;
  const int64_t kh = args.num_k_heads;
  const int64_t kd = args.head_k_dim;
  const int64_t vh = args.num_v_heads;
  const int64_t vd = args.head_v_dim;
  const int64_t rows = args.state_is_vk != 0 ? vd : kd;
  const int64_t cols = args.state_is_vk != 0 ? kd : vd;
  int64_t kept = 0;
  int64_t bounds = N;
  if (!multiply(args.num_snapshots, N, &kept) ||
      (args.sequence_coding != GDN_LENGTHS && !add(N, 1, &bounds))) {
    refuse(GDN_INVALID_ARGUMENT, "num_sequences or num_snapshots overflows 64 bits");
  }
  const int64_t indices = args.state_writes == GDN_WRITE_EVERY_TOKEN ? T : N;
  const bool keeps = args.state_writes == GDN_WRITE_LAST;
  using Holds = ViewRule::Holds;
  const auto check_view = [&](const ViewRule& rule) { check(rule, bytes_of); };
  check_view({"q", args.q, {T, kh, kd, 1}, 3, Holds::numbers, true});
  check_view({"k", args.k, {T, kh, kd, 1}, 3, Holds::numbers, true});
  check_view({"v", args.v, {T, vh, vd, 1}, 3, Holds::numbers, true});
  check_view({"g", args.g, {T, vh, 1, 1}, 2, Holds::float32, false});
  check_view({"gk", args.gk, {T, vh, kd, 1}, 3, Holds::float32, false});
  check_view({"beta", args.beta, {T, vh, 1, 1}, 2, Holds::numbers, true});
  check_view({"o", args.o, {T, vh, vd, 1}, 3, Holds::numbers, true});
  check_view({"state", args.state, {args.num_slots, vh, rows, cols}, 4, Holds::numbers, true});
  check_view({"snapshots", args.snapshots, {kept, vh, rows, cols}, 4, Holds::numbers, keeps});
  check_view({"sequences", args.sequences, {bounds, 1, 1, 1}, 1, Holds::int32, false});
  check_view({"slots", args.slots, {indices, 1, 1, 1}, 1, Holds::int32, false});
  check_view({"accepted", args.accepted, {N, 1, 1, 1}, 1, Holds::int32, false});
  check_view({"from_zero", args.from_zero, {N, 1, 1, 1}, 1, Holds::int32, false});
}

}  // namespace

const gdn_recurrent_args& checked(const gdn_recurrent_args* args, const BufferBytes& bytes_of) {
  if (args == nullptr) refuse(GDN_INVALID_ARGUMENT, "args is null");
  if (args->struct_size != sizeof *args) {
    refuse(GDN_INVALID_ARGUMENT, "args.struct_size is %u, expected %zu", args->struct_size,
           sizeof *args);
  }
  check_counts(*args);
  check_choices(*args);
  check_views(*args, bytes_of);
  return *args;
}

}  // namespace gdn::host
