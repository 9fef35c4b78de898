// Which drawn cases count as which regime of the recurrence's batches.
#include <algorithm>

#include "invariants/harness/regimes_parts.h"
#include "reference/recurrent_call.h"

namespace gdn {
namespace {

using D = Dialect;

// Is there a call of a batch of which this holds?
template <class Holds>
bool some_batch(const Case& c, Holds holds) {
  if (c.subject != Subject::recurrent) return false;
  return std::any_of(c.calls.begin(), c.calls.end(), [&](const Call& call) {
    return !call.lengths.empty() && holds(call, batch_of(c, call));
  });
}

bool has_tokens_of_none(const RecurrentBatch& batch) {
  int64_t tokens = 0;
  for (const BatchSequence& s : batch.sequences) tokens += s.tokens;
  return tokens < static_cast<int64_t>(batch.store.size());
}

template <D::SequenceCoding coding>
bool is_coded(const Case& c) {
  return c.dialect.sequence_coding == coding &&
         some_batch(c, [](const Call&, const RecurrentBatch&) { return true; });
}

template <D::Padding padding>
bool has_padding(const Case& c) {
  return c.dialect.padding == padding && some_batch(c, [](const Call&, const RecurrentBatch& b) {
           return std::any_of(b.sequences.begin(), b.sequences.end(),
                              [](const BatchSequence& s) { return s.is_padding; });
         });
}

}  // namespace

std::vector<Regime> regimes_of_batches() {
  return {
      {"batch of sequences",
       [](const Case& c) {
         return some_batch(
             c, [](const Call&, const RecurrentBatch& b) { return b.sequences.size() >= 2; });
       }},
      {"empty sequence in a batch",
       [](const Case& c) {
         return some_batch(c, [](const Call&, const RecurrentBatch& b) {
           return static_cast<int64_t>(b.sequences.size()) < b.sequence_count;
         });
       }},
      {"sequences by cumulative offsets", is_coded<D::SequenceCoding::cumulative>},
      {"sequences by lengths", is_coded<D::SequenceCoding::lengths>},
      {"sequences by start and lengths", is_coded<D::SequenceCoding::start_and_lengths>},
      {"padding skipped", has_padding<D::Padding::negative_skips>},
      {"padding zeroed", has_padding<D::Padding::negative_zeroes>},
      {"padding from slot 0 on", has_padding<D::Padding::not_positive_zeroes>},
      {"null slot", has_padding<D::Padding::slot_zero_is_null>},
      {"state of every token",
       [](const Case& c) {
         return some_batch(c, [](const Call&, const RecurrentBatch& b) {
           return b.writes == D::StateWrites::every_token;
         });
       }},
      {"last states kept",
       [](const Case& c) {
         return some_batch(c, [](const Call&, const RecurrentBatch& b) { return b.snapshots > 0; });
       }},
      {"accepted drafts",
       [](const Case& c) {
         return some_batch(
             c, [](const Call& call, const RecurrentBatch&) { return !call.accepted.empty(); });
       }},
      {"tokens of no sequence",
       [](const Case& c) {
         return some_batch(
             c, [](const Call&, const RecurrentBatch& b) { return has_tokens_of_none(b); });
       }},
      {"f16 or bf16 states in a batch",
       [](const Case& c) {
         return c.dialect.state_storage != Format::f32 &&
                some_batch(c, [](const Call&, const RecurrentBatch&) { return true; });
       }},
  };
}

}  // namespace gdn
