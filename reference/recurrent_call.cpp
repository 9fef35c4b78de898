// What the index arrays of a call mean, and what its sequences then give.
#include "reference/recurrent_call.h"

#include <algorithm>

namespace gdn {
namespace {

using D = Dialect;

constexpr int64_t none = -1;

std::string at(std::string_view array, int64_t index, int64_t value) {
  return std::string(array) + "[" + std::to_string(index) + "] is " + std::to_string(value);
}

// Codes the lengths as the dialect says, and finds each sequence's tokens.
std::string find_sequences(const Case& c, const Call& call, RecurrentBatch& batch) {
  const int64_t tokens = std::max<int64_t>(0, call.at(Argument::tokens));
  batch.is_coded = !call.lengths.empty();
  batch.sequence_count = batch.is_coded ? static_cast<int64_t>(call.lengths.size()) : 1;
  if (!batch.is_coded) {
    if (tokens > 0) batch.sequences.push_back({.tokens = tokens});
    return "";
  }
  int64_t begin = call.at(Argument::start);
  const D::SequenceCoding coding = c.dialect.sequence_coding;
  if (coding != D::SequenceCoding::lengths) batch.coded.push_back(begin);
  std::string why = begin > tokens ? "sequences start behind the last token" : "";
  for (int64_t n = 0; n < batch.sequence_count; ++n) {
    const int64_t length = call.lengths[static_cast<size_t>(n)];
    batch.coded.push_back(coding == D::SequenceCoding::cumulative ? begin + length : length);
    if (length < 0 || length > tokens - begin) {
      if (why.empty()) why = at("lengths", n, length);
    } else if (length > 0) {
      batch.sequences.push_back({.index = n, .first_token = begin, .tokens = length});
    }
    begin += length;
  }
  return why;
}

// The slot that an index means; none where it is padding.
std::string find_slot(const Case& c, const Call& call, int64_t place, int64_t& slot) {
  slot = call.slots[static_cast<size_t>(place)];
  const D::Padding padding = c.dialect.padding;
  const std::string wrong = at("slots", place, slot);
  if (slot >= c.pool.slots) return wrong;
  if (slot < 0 && padding == D::Padding::not_allowed) return wrong;
  if (slot < 0 && padding == D::Padding::slot_zero_is_null) slot = 0;
  if (slot == 0 && padding == D::Padding::not_positive_zeroes) slot = none;
  slot = std::max(slot, none);
  return "";
}

std::string find_slots(const Case& c, const Call& call, RecurrentBatch& batch,
                       BatchSequence& sequence) {
  const bool by_token = batch.writes == D::StateWrites::every_token;
  const int64_t count = by_token ? sequence.tokens : 1;
  int64_t start = 0;
  if (!call.accepted.empty()) {
    const int64_t accepted = call.accepted[static_cast<size_t>(sequence.index)];
    if (accepted < 1 || accepted > count) return at("accepted", sequence.index, accepted);
    start = accepted - 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t slot = sequence.index;
    if (batch.has_slots) {
      const int64_t first = by_token ? sequence.first_token : sequence.index;
      const std::string why = find_slot(c, call, first + i, slot);
      if (!why.empty()) return why;
    } else if (slot >= c.pool.slots) {
      return "sequence " + std::to_string(slot) + " has no slot";
    }
    if (i == start) sequence.start_slot = slot;
    const int64_t token = sequence.first_token + (by_token ? i : sequence.tokens - 1);
    if (batch.writes != D::StateWrites::last_k_newest_first) {
      batch.store[static_cast<size_t>(token)] = slot;
    }
  }
  return "";
}

// What padding does to the tokens of a sequence, and which states the null slot swallows.
void settle(const Case& c, const Call& call, RecurrentBatch& batch, BatchSequence& sequence) {
  const bool has_null = batch.has_slots && c.dialect.padding == D::Padding::slot_zero_is_null;
  const auto begin = batch.store.begin() + sequence.first_token;
  const auto end = begin + sequence.tokens;
  const bool from_null = has_null && sequence.start_slot == 0;
  if (has_null && (from_null || std::find(begin, end, 0) != end)) batch.null_slot_is_used = true;
  sequence.is_padding = sequence.start_slot == none || from_null;
  if (sequence.is_padding) std::fill(begin, end, none);
  if (has_null) std::replace(begin, end, int64_t{0}, none);
  OutputKind kind = OutputKind::computed;
  if (from_null) {
    kind = OutputKind::meaningless;
  } else if (sequence.is_padding) {
    const bool skips = c.dialect.padding == D::Padding::negative_skips;
    kind = skips ? OutputKind::untouched : OutputKind::zero;
  }
  std::fill_n(batch.output.begin() + sequence.first_token, sequence.tokens, kind);
  const auto index = static_cast<size_t>(sequence.index);
  sequence.from_zero = !call.from_zero.empty() && call.from_zero[index] != 0;
}

std::string written_twice(const RecurrentBatch& batch) {
  std::vector<int64_t> written = batch.store;
  std::erase(written, none);
  std::sort(written.begin(), written.end());
  const auto twice = std::adjacent_find(written.begin(), written.end());
  return twice == written.end() ? "" : "two states go to slot " + std::to_string(*twice);
}

// Part `index` of as many as fit gets other contents.
void replace_part(Bounded& all, size_t index, const Bounded& part) {
  all.stored = part.stored;
  const size_t begin = index * part.size();
  for (const Tolerated& t : part.tolerated) {
    all.tolerated.push_back({t.index + begin, t.result, t.why});
  }
  for (size_t i = 0; i < part.size(); ++i) {
    all.value[begin + i] = part.value[i];
    all.bound[begin + i] = part.bound_of(i);
  }
}

Bounded zeros(size_t count) {
  Bounded all;
  all.value.assign(count, 0);
  all.bound.assign(count, 0);
  return all;
}

// One sequence of a call.
struct Walk {
  const Case& c;
  const Contract& contract;
  std::vector<float> initial;
  std::vector<TokenInputs> tokens;

  std::vector<Bounded> outputs() const {
    return RunningRecurrence(c.shape, c.dialect, contract, initial).call(tokens);
  }
  // After its first `count` tokens, all of one call.
  Bounded state_after(int64_t count) const {
    RunningRecurrence running(c.shape, c.dialect, contract, initial);
    running.call({tokens.begin(), tokens.begin() + count});
    return running.state();
  }
};

Walk walk_of(const Case& c, const BatchSequence& s, const std::vector<TokenInputs>& tokens,
             const std::vector<float>& pool, const Contract& contract) {
  Walk walk{c, contract, {}, {}};
  if (!s.from_zero) {
    const auto begin = pool.begin() + s.start_slot * c.shape.state_count();
    walk.initial.assign(begin, begin + c.shape.state_count());
  }
  const auto begin = tokens.begin() + s.first_token;
  walk.tokens.assign(begin, begin + s.tokens);
  return walk;
}

}  // namespace

RecurrentBatch batch_of(const Case& c, const Call& call) {
  RecurrentBatch batch;
  const int64_t tokens = std::max<int64_t>(0, call.at(Argument::tokens));
  batch.has_slots = !call.slots.empty();
  const bool keeps = call.at(Argument::snapshots) >= 0;
  batch.snapshots = keeps ? call.at(Argument::snapshots) : 0;
  if (keeps) {
    batch.writes = D::StateWrites::last_k_newest_first;
  } else if (batch.has_slots && c.dialect.state_writes == D::StateWrites::every_token) {
    batch.writes = D::StateWrites::every_token;
  }
  batch.store.assign(static_cast<size_t>(tokens), none);
  batch.output.assign(static_cast<size_t>(tokens), OutputKind::untouched);
  batch.why_refused = call.at(Argument::tokens) < 0 ? "tokens are negative" : "";
  const std::string coding = find_sequences(c, call, batch);
  if (batch.why_refused.empty()) batch.why_refused = coding;
  if (batch.why_refused.empty() && !batch.has_slots && batch.sequence_count > c.pool.slots) {
    batch.why_refused = "more sequences than slots";
  }
  for (BatchSequence& sequence : batch.sequences) {
    if (!batch.why_refused.empty()) return batch;
    batch.why_refused = find_slots(c, call, batch, sequence);
    if (batch.why_refused.empty()) settle(c, call, batch, sequence);
  }
  if (batch.why_refused.empty()) batch.why_refused = written_twice(batch);
  return batch;
}

RecurrentExpectation expect_call(const Case& c, const RecurrentBatch& batch,
                                 const std::vector<TokenInputs>& tokens,
                                 const std::vector<float>& pool, const Contract& contract) {
  const auto state_count = static_cast<size_t>(c.shape.state_count());
  RecurrentExpectation want;
  want.o = zeros(batch.output.size() * static_cast<size_t>(c.shape.v_dim()));
  want.S = exactly(pool);
  want.S.bound.assign(want.S.size(), 0);
  want.S.stored = c.dialect.state_storage;
  const int64_t kept = batch.snapshots * batch.sequence_count;
  want.snapshots = zeros(static_cast<size_t>(kept) * state_count);
  if (batch.null_slot_is_used) replace_part(want.S, 0, zeros(state_count));
  for (const BatchSequence& s : batch.sequences) {
    if (s.is_padding) continue;
    const Walk walk = walk_of(c, s, tokens, pool, contract);
    const std::vector<Bounded> outputs = walk.outputs();
    for (int64_t t = 0; t < s.tokens; ++t) {
      const auto token = static_cast<size_t>(s.first_token + t);
      replace_part(want.o, token, outputs[static_cast<size_t>(t)]);
      const int64_t slot = batch.store[token];
      const int64_t after = s.tokens - 1 - t;
      const bool is_kept = after < batch.snapshots;
      if (slot < 0 && !is_kept) continue;
      const Bounded state = walk.state_after(t + 1);
      if (slot >= 0) replace_part(want.S, static_cast<size_t>(slot), state);
      if (!is_kept) continue;
      replace_part(want.snapshots, static_cast<size_t>(after * batch.sequence_count + s.index),
                   state);
    }
  }
  return want;
}

}  // namespace gdn
