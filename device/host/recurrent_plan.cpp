// Index arrays of recurrent: what they may hold, and what follows from them.
#include "device/host/recurrent_plan.h"

#include <algorithm>
#include <cinttypes>

#include "device/host/status.h"

namespace gdn::host {
namespace {

constexpr int64_t padding_slot = -1;

// Of the sequences that have tokens, first token and count.
void find_tokens(const gdn_recurrent_args& args, const RecurrentIndices& indices,
                 RecurrentPlan& plan) {
  if (args.sequences.buffer == 0) {
    if (args.num_tokens > 0) plan.sequences.push_back({0, args.num_tokens, 0, 0});
    return;
  }
  const std::pmr::vector<int32_t>& given = indices.sequences;
  const bool is_cumulative = args.sequence_coding == GDN_CUMULATIVE;
  const bool has_start = args.sequence_coding == GDN_START_AND_LENGTHS;
  int64_t token = is_cumulative || has_start ? given[0] : 0;
  if (token < 0 || (is_cumulative && token > 0)) {
    refuse(GDN_INVALID_ARGUMENT, "sequences: the first token is %" PRId64, token);
  }
  for (int64_t n = 0; n < args.num_sequences; ++n) {
    const auto at = static_cast<size_t>(n);
    int64_t end = is_cumulative ? given[at + 1] : token + given[has_start ? at + 1 : at];
    if (end < token || end > args.num_tokens) {
      refuse(GDN_INVALID_ARGUMENT,
             "sequences: number %" PRId64 " goes from token %" PRId64 " to %" PRId64 " of %" PRId64,
             n, token, end, args.num_tokens);
    }
    if (end > token) plan.sequences.push_back({token, end - token, 0, n});
    token = end;
  }
}

int64_t slot_at(const gdn_recurrent_args& args, const RecurrentIndices& indices, int64_t place) {
  const int64_t slot = indices.slots[static_cast<size_t>(place)];
  const bool is_padding = slot < 0 || (slot == 0 && args.padding == GDN_NOT_POSITIVE_ZEROES);
  const bool to_null = slot < 0 && args.padding == GDN_SLOT_ZERO_IS_NULL;
  const int64_t meant = to_null ? 0 : slot;
  if (meant >= args.num_slots || (is_padding && args.padding == GDN_NO_PADDING)) {
    refuse(GDN_INVALID_ARGUMENT, "slots[%" PRId64 "] is %" PRId64 " of %" PRId64 " slots%s", place,
           slot, args.num_slots, is_padding ? ", without padding" : "");
  }
  return is_padding && !to_null ? padding_slot : meant;
}

// Which of its slot indices a sequence starts from.
int64_t start_of(const gdn_recurrent_args& args, const RecurrentIndices& indices, int64_t sequence,
                 int64_t slot_count) {
  if (args.accepted.buffer == 0) return 0;
  const int64_t accepted = indices.accepted[static_cast<size_t>(sequence)];
  if (accepted < 1 || accepted > slot_count) {
    refuse(GDN_INVALID_ARGUMENT, "accepted[%" PRId64 "] is %" PRId64 " of %" PRId64 " slot indices",
           sequence, accepted, slot_count);
  }
  return accepted - 1;
}

void find_slots(const gdn_recurrent_args& args, const RecurrentIndices& indices,
                SequenceOfCall& sequence, RecurrentPlan& plan) {
  const bool by_token = args.state_writes == GDN_WRITE_EVERY_TOKEN;
  const int64_t count = by_token ? sequence.tokens : 1;
  const int64_t first = by_token ? sequence.first_token : sequence.index;
  const int64_t start = start_of(args, indices, sequence.index, count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t slot =
        args.slots.buffer == 0 ? sequence.index : slot_at(args, indices, first + i);
    if (i == start) sequence.start = slot;
    if (args.state_writes == GDN_WRITE_LAST) continue;
    const int64_t writer = by_token ? first + i : sequence.first_token + sequence.tokens - 1;
    plan.store[static_cast<size_t>(writer)] = slot;
  }
}

void check_written_once(const gdn_recurrent_args& args, const RecurrentPlan& plan) {
  std::pmr::vector<int64_t> written(plan.store, plan.store.get_allocator());
  std::sort(written.begin(), written.end());
  const bool has_null = args.padding == GDN_SLOT_ZERO_IS_NULL && args.slots.buffer != 0;
  const int64_t first_real = has_null ? 1 : 0;
  const auto real = std::lower_bound(written.begin(), written.end(), first_real);
  const auto twice = std::adjacent_find(real, written.end());
  if (twice == written.end()) return;
  refuse(GDN_INVALID_ARGUMENT, "two states would go to slot %" PRId64, *twice);
}

}  // namespace

void plan_recurrent(const gdn_recurrent_args& args, const RecurrentIndices& indices,
                    RecurrentPlan& plan) {
  find_tokens(args, indices, plan);
  plan.store.assign(static_cast<size_t>(args.num_tokens), padding_slot);
  const bool has_null = args.padding == GDN_SLOT_ZERO_IS_NULL && args.slots.buffer != 0;
  for (SequenceOfCall& sequence : plan.sequences) {
    find_slots(args, indices, sequence, plan);
    const auto begin = plan.store.begin() + sequence.first_token;
    // What the null slot holds means nothing: nothing is computed for it either.
    const bool is_padding = sequence.start < 0 || (has_null && sequence.start == 0);
    if (is_padding) {
      std::fill_n(begin, sequence.tokens, padding_slot);
      sequence.start = sequence_is_zeroed;
      continue;
    }
    if (has_null) std::replace(begin, begin + sequence.tokens, int64_t{0}, padding_slot);
    const bool from_zero =
        args.from_zero.buffer != 0 && indices.from_zero[static_cast<size_t>(sequence.index)] != 0;
    if (from_zero) sequence.start = sequence_from_zero;
  }
  check_written_once(args, plan);
  if (args.padding != GDN_NEGATIVE_SKIPS) return;
  std::erase_if(plan.sequences,
                [](const SequenceOfCall& s) { return s.start == sequence_is_zeroed; });
}

}  // namespace gdn::host
