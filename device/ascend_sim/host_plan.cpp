// What index arrays hold, checked and followed.
#include "device/ascend_sim/host_plan.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "device/host/recurrent_checks.h"
#include "device/host/status.h"

namespace gdn::ascend {
namespace {

using host::refuse;

struct IndexArrays {
  Seen sequences, slots, accepted, from_zero;
};

int64_t number_at(const Seen& array, int64_t i) {
  int32_t value = 0;
  std::memcpy(&value, array.data + array.index(i) * int64_t{sizeof value}, sizeof value);
  return value;
}

struct Follower {
  const gdn_recurrent_args& a;
  const IndexArrays& arrays;
  HostPlan& plan;

  bool by_token() const { return a.state_writes == GDN_WRITE_EVERY_TOKEN; }

  // The slot that an index means; -1 where it is padding.
  int64_t slot_at(int64_t place) const {
    const int64_t given = number_at(arrays.slots, place);
    const bool is_low = given < 0 || (given == 0 && a.padding == GDN_NOT_POSITIVE_ZEROES);
    const bool has_null = a.padding == GDN_SLOT_ZERO_IS_NULL && a.num_slots > 0;
    if (given >= a.num_slots || (is_low && a.padding == GDN_NO_PADDING) ||
        (is_low && a.padding == GDN_SLOT_ZERO_IS_NULL && !has_null)) {
      refuse(GDN_INVALID_ARGUMENT, "slots[%" PRId64 "] is %" PRId64 " of %" PRId64 " slots", place,
             given, a.num_slots);
    }
    if (!is_low) return given;
    return has_null ? 0 : -1;
  }

  void add(int64_t n, int64_t first, int64_t tokens) {
    HostSequence sequence = {.first_token = first, .tokens = tokens};
    const int64_t count = by_token() ? tokens : 1;
    if (arrays.accepted.is_there()) {
      sequence.accepted = number_at(arrays.accepted, n);
      if (sequence.accepted < 1 || sequence.accepted > count) {
        refuse(GDN_INVALID_ARGUMENT, "accepted[%" PRId64 "] is %" PRId64 ", expected 1 to %" PRId64,
               n, sequence.accepted, count);
      }
    }
    sequence.from_zero = arrays.from_zero.is_there() && number_at(arrays.from_zero, n) != 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = by_token() ? first + i : n;
      const int64_t slot = arrays.slots.is_there() ? slot_at(place) : n;
      if (i + 1 == sequence.accepted) sequence.start_slot = slot;
      const int64_t token = by_token() ? first + i : first + tokens - 1;
      if (a.state_writes != GDN_WRITE_LAST) plan.store[static_cast<size_t>(token)] = slot;
    }
    if (sequence.start_slot < 0) {
      std::fill_n(plan.store.begin() + first, tokens, -1);
    }
    plan.sequences.push_back(sequence);
  }

  void follow() {
    plan.store.assign(static_cast<size_t>(a.num_tokens), -1);
    if (!arrays.sequences.is_there()) {
      if (a.num_tokens > 0) add(0, 0, a.num_tokens);
      return;
    }
    const bool cumulative = a.sequence_coding == GDN_CUMULATIVE;
    const int64_t ahead = a.sequence_coding == GDN_LENGTHS ? 0 : 1;
    int64_t at = ahead == 0 ? 0 : number_at(arrays.sequences, 0);
    if (at < 0 || (cumulative && at != 0)) {
      refuse(GDN_INVALID_ARGUMENT, "sequences begin at %" PRId64, at);
    }
    for (int64_t n = 0; n < a.num_sequences; ++n) {
      const int64_t given = number_at(arrays.sequences, n + ahead);
      const int64_t tokens = cumulative ? given - at : given;
      if (tokens < 0 || tokens > a.num_tokens - at) {
        refuse(GDN_INVALID_ARGUMENT,
               "sequence %" PRId64 " has %" PRId64 " tokens from %" PRId64 " on, of %" PRId64, n,
               tokens, at, a.num_tokens);
      }
      if (tokens > 0) add(n, at, tokens);
      at += tokens;
    }
  }

  void check_that_stores_differ() const {
    std::vector<int64_t> stores = plan.store;
    std::sort(stores.begin(), stores.end());
    for (size_t i = 1; i < stores.size(); ++i) {
      const bool is_null = stores[i] == 0 && a.padding == GDN_SLOT_ZERO_IS_NULL;
      if (stores[i] < 0 || stores[i] != stores[i - 1] || is_null) continue;
      refuse(GDN_INVALID_ARGUMENT, "two states would go to slot %" PRId64, stores[i]);
    }
  }
};

}  // namespace

HostPlan checked_plan(const gdn_recurrent_args* args, const FindBuffer& find) {
  const gdn_recurrent_args& a =
      host::checked(args, [&find](gdn_buffer name) { return find(name).bytes; });
  const auto seen = [&find](const gdn_view& view) -> Seen {
    return view.buffer == 0 ? Seen{} : Seen{view, find(view.buffer).data};
  };
  HostPlan plan;
  plan.q = seen(a.q);
  plan.k = seen(a.k);
  plan.v = seen(a.v);
  plan.g = seen(a.g);
  plan.gk = seen(a.gk);
  plan.beta = seen(a.beta);
  plan.o = seen(a.o);
  plan.state = seen(a.state);
  const IndexArrays arrays = {seen(a.sequences), seen(a.slots), seen(a.accepted),
                              seen(a.from_zero)};
  Follower follower = {a, arrays, plan};
  follower.follow();
  follower.check_that_stores_differ();
  return plan;
}

}  // namespace gdn::ascend
