// Batches of the recurrence: sequences in slots of a pool, with padding, accepted drafts, snapshots
// and index arrays that hold more than is used.
#include <algorithm>
#include <limits>

#include "invariants/harness/regimes_parts.h"
#include "reference/recurrent_call.h"

namespace gdn {
namespace {

using D = Dialect;

void draw_conventions(Case& c, Rng& rng) {
  constexpr D::SequenceCoding codings[] = {D::SequenceCoding::cumulative,
                                           D::SequenceCoding::lengths,
                                           D::SequenceCoding::start_and_lengths};
  constexpr D::StateWrites writes[] = {D::StateWrites::final_only, D::StateWrites::every_token,
                                       D::StateWrites::every_token,
                                       D::StateWrites::last_k_newest_first};
  constexpr D::Padding paddings[] = {D::Padding::negative_skips, D::Padding::negative_zeroes,
                                     D::Padding::not_positive_zeroes, D::Padding::slot_zero_is_null,
                                     D::Padding::not_allowed};
  c.dialect.sequence_coding = one_of(rng, codings);
  c.dialect.state_writes = one_of(rng, writes);
  c.dialect.padding = one_of(rng, paddings);
  if (in_100(rng, 50)) c.dialect.start_slot = D::StartSlot::accepted_minus_one;
}

std::vector<int64_t> draw_lengths(Rng& rng) {
  std::vector<int64_t> lengths;
  const int64_t count = rng.range(1, 4);
  for (int64_t n = 0; n < count; ++n) {
    const int64_t usual = in_100(rng, 25) ? 0 : rng.range(1, 4);
    lengths.push_back(in_100(rng, 4) ? rng.range(5, 17) : usual);
  }
  return lengths;
}

// Slots in an order of their own, each once; some are padding.
std::vector<int64_t> draw_slots(const Case& c, Rng& rng, int64_t count) {
  constexpr int64_t negative[] = {-1, -1, -1, -7, std::numeric_limits<int32_t>::min()};
  const D::Padding padding = c.dialect.padding;
  const bool zero_is_padding =
      padding == D::Padding::not_positive_zeroes || padding == D::Padding::slot_zero_is_null;
  std::vector<int64_t> slots;
  for (int64_t slot = zero_is_padding ? 1 : 0; slot < c.pool.slots; ++slot) slots.push_back(slot);
  for (size_t i = slots.size(); i > 1; --i) {
    std::swap(slots[i - 1], slots[static_cast<size_t>(rng.range(0, static_cast<int64_t>(i) - 1))]);
  }
  slots.resize(static_cast<size_t>(count));
  if (padding == D::Padding::not_allowed) return slots;
  for (int64_t& slot : slots) {
    if (!in_100(rng, 20)) continue;
    slot = zero_is_padding && in_100(rng, 50) ? 0 : one_of(rng, negative);
  }
  return slots;
}

int64_t stale_index(Rng& rng) {
  constexpr int64_t stale[] = {-2, 0, 1 << 20, std::numeric_limits<int32_t>::max()};
  return one_of(rng, stale);
}

void draw_accepted(const Case& c, Rng& rng, Call& call) {
  if (c.dialect.start_slot != D::StartSlot::accepted_minus_one || in_100(rng, 15)) return;
  const bool by_token = c.dialect.state_writes == D::StateWrites::every_token;
  for (const int64_t length : call.lengths) {
    const int64_t most = by_token ? length : 1;
    call.accepted.push_back(most == 0 ? stale_index(rng) : rng.range(1, most));
  }
}

// A call whose tokens and lengths stand.
void draw_lists(const Case& c, Rng& rng, Call& call) {
  const bool by_token = c.dialect.state_writes == D::StateWrites::every_token;
  const auto sequences = static_cast<int64_t>(call.lengths.size());
  const int64_t tokens = call.at(Argument::tokens);
  const bool has_null = c.dialect.padding == D::Padding::slot_zero_is_null;
  if (by_token || has_null || in_100(rng, 85)) {
    call.slots = draw_slots(c, rng, by_token ? tokens : sequences);
    // Without one entry the list would count as left out.
    if (call.slots.empty() || in_100(rng, 15)) call.slots.push_back(stale_index(rng));
  }
  draw_accepted(c, rng, call);
  if (in_100(rng, 25)) {
    for (int64_t n = 0; n < sequences; ++n) call.from_zero.push_back(rng.range(0, 1));
  }
  if (c.dialect.state_writes == D::StateWrites::last_k_newest_first) {
    call.given[Argument::snapshots] = rng.range(0, 4);
  }
  // Slots of tokens that belong to no sequence, and of sequences without tokens.
  if (call.slots.empty() || !in_100(rng, 50)) return;
  const RecurrentBatch batch = batch_of(c, call);
  std::vector<bool> used(call.slots.size(), false);
  for (const BatchSequence& s : batch.sequences) {
    const int64_t first = by_token ? s.first_token : s.index;
    for (int64_t i = 0; i < (by_token ? s.tokens : 1); ++i) {
      used[static_cast<size_t>(first + i)] = true;
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) call.slots[i] = stale_index(rng);
  }
}

}  // namespace

void draw_batches(Case& c, Rng& rng) {
  draw_conventions(c, rng);
  const int64_t calls = in_100(rng, 50) ? 1 : rng.range(2, 3);
  c.tokens = 0;
  int64_t longest = 0;
  for (int64_t i = 0; i < calls; ++i) {
    Call call = call_of(CallKind::recurrent);
    call.lengths = draw_lengths(rng);
    int64_t tokens = 0;
    for (const int64_t length : call.lengths) tokens += length;
    if (c.dialect.sequence_coding == D::SequenceCoding::start_and_lengths && in_100(rng, 40)) {
      call.given[Argument::start] = rng.range(1, 2);
      tokens += call.at(Argument::start);
    }
    if (in_100(rng, 30)) tokens += rng.range(1, 2);
    call.given[Argument::tokens] = tokens;
    longest = std::max({longest, tokens, static_cast<int64_t>(call.lengths.size())});
    c.tokens += tokens;
    c.calls.push_back(std::move(call));
  }
  // One for each token, one that is padding, and some that nobody uses.
  c.pool.slots = c.pool.states = longest + 1 + rng.range(0, 2);
  for (Call& call : c.calls) draw_lists(c, rng, call);
}

}  // namespace gdn
