// Index arrays of recurrent, checked by what they hold.
#include "device/twin/recurrent_plan.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "device/twin/engine.h"
#include "device/twin/views.h"

namespace gdn::twin {
namespace {

int64_t index_at(const gdn_view& view, const unsigned char* data, int64_t i) {
  int32_t value = 0;
  std::memcpy(&value, data + element_index(view, i) * int64_t{sizeof value}, sizeof value);
  return value;
}

bool is_null_slot(const gdn_recurrent_args& a, int64_t slot) {
  return a.padding == GDN_SLOT_ZERO_IS_NULL && a.slots.buffer != 0 && slot == 0;
}

}  // namespace

gdn_status Engine::plan_sequences(const gdn_recurrent_args& a, RecurrentPlan* plan) {
  const unsigned char* coded = view_data(a.sequences);
  if (coded == nullptr) {
    if (a.num_tokens > 0) plan->sequences.push_back({0, 0, a.num_tokens, 0, false});
    return GDN_OK;
  }
  const bool cumulative = a.sequence_coding == GDN_CUMULATIVE;
  const int64_t ahead = a.sequence_coding == GDN_LENGTHS ? 0 : 1;
  int64_t at = ahead == 0 ? 0 : index_at(a.sequences, coded, 0);
  if (at < 0 || (cumulative && at != 0)) {
    return refuse(GDN_INVALID_ARGUMENT, "sequences begin at %" PRId64 ", expected %s", at,
                  cumulative ? "0" : "0 or more");
  }
  for (int64_t n = 0; n < a.num_sequences; ++n) {
    const int64_t given = index_at(a.sequences, coded, n + ahead);
    const int64_t length = cumulative ? given - at : given;
    if (length < 0 || length > a.num_tokens - at) {
      return refuse(GDN_INVALID_ARGUMENT,
                    "sequence %" PRId64 " has %" PRId64 " tokens from %" PRId64 " on, of %" PRId64,
                    n, length, at, a.num_tokens);
    }
    if (length > 0) plan->sequences.push_back({n, at, length, 0, false});
    at += length;
  }
  return GDN_OK;
}

gdn_status Engine::check_slot(const gdn_recurrent_args& a, int64_t place, int64_t* slot) {
  const int64_t given = *slot;
  if (given >= a.num_slots) {
    return refuse(GDN_INVALID_ARGUMENT, "slots[%" PRId64 "] is %" PRId64 " of %" PRId64 " slots",
                  place, given, a.num_slots);
  }
  switch (a.padding) {
    case GDN_NEGATIVE_SKIPS:
    case GDN_NEGATIVE_ZEROES:
      *slot = std::max<int64_t>(given, -1);
      return GDN_OK;
    case GDN_NOT_POSITIVE_ZEROES:
      *slot = given <= 0 ? -1 : given;
      return GDN_OK;
    case GDN_SLOT_ZERO_IS_NULL:
      *slot = std::max<int64_t>(given, 0);
      if (a.num_slots > 0) return GDN_OK;
      break;
    case GDN_NO_PADDING:
      if (given >= 0) return GDN_OK;
      break;
  }
  return refuse(GDN_INVALID_ARGUMENT, "slots[%" PRId64 "] is %" PRId64 ", and there is no padding",
                place, given);
}

// Where a sequence starts and where its states go.
gdn_status Engine::plan_slots(const gdn_recurrent_args& a, PlannedSequence& sequence,
                              RecurrentPlan* plan) {
  const bool by_token = a.state_writes == GDN_WRITE_EVERY_TOKEN;
  const int64_t count = by_token ? sequence.tokens : 1;
  const int64_t first = by_token ? sequence.first_token : sequence.index;
  int64_t start = 0;
  if (a.accepted.buffer != 0) {
    const int64_t accepted = index_at(a.accepted, view_data(a.accepted), sequence.index);
    if (accepted < 1 || accepted > count) {
      return refuse(GDN_INVALID_ARGUMENT,
                    "accepted[%" PRId64 "] is %" PRId64 ", expected 1 to %" PRId64, sequence.index,
                    accepted, count);
    }
    start = accepted - 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t slot = sequence.index;
    if (a.slots.buffer != 0) {
      slot = index_at(a.slots, view_data(a.slots), first + i);
      const gdn_status status = check_slot(a, first + i, &slot);
      if (status != GDN_OK) return status;
    }
    if (i == start) sequence.start_slot = slot;
    const int64_t last = sequence.first_token + sequence.tokens - 1;
    if (a.state_writes != GDN_WRITE_LAST) {
      plan->store[static_cast<size_t>(by_token ? first + i : last)] = slot;
    }
  }
  // What the null slot holds means nothing: a sequence that starts there is padding as well.
  if (is_null_slot(a, sequence.start_slot)) sequence.start_slot = -1;
  if (sequence.start_slot >= 0) return GDN_OK;
  std::fill_n(plan->store.begin() + sequence.first_token, sequence.tokens, -1);
  return GDN_OK;
}

gdn_status Engine::plan_recurrent(const gdn_recurrent_args& a, RecurrentPlan* plan) {
  gdn_status status = plan_sequences(a, plan);
  if (status != GDN_OK) return status;
  plan->store.assign(static_cast<size_t>(a.num_tokens), -1);
  for (PlannedSequence& sequence : plan->sequences) {
    status = plan_slots(a, sequence, plan);
    if (status != GDN_OK) return status;
    const unsigned char* flags = view_data(a.from_zero);
    sequence.from_zero = flags != nullptr && index_at(a.from_zero, flags, sequence.index) != 0;
  }
  std::pmr::vector<int64_t> written(plan->store, plan->store.get_allocator());
  std::sort(written.begin(), written.end());
  for (size_t i = 1; i < written.size(); ++i) {
    const int64_t slot = written[i];
    if (slot < 0 || slot != written[i - 1] || is_null_slot(a, slot)) continue;
    return refuse(GDN_INVALID_ARGUMENT, "two states would go to slot %" PRId64, slot);
  }
  return GDN_OK;
}

}  // namespace gdn::twin
