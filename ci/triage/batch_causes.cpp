// A fault of a batch is told as another batch: one whose sequences start elsewhere, or are others,
// and the reference says what that gives.
#include "ci/triage/batch_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "invariants/harness/batch_expectation.h"
#include "invariants/harness/verdict.h"

namespace gdn {
namespace {

constexpr int64_t none = -1;

// All that a story may ask about.
struct Told {
  const Case& c;
  const Call& call;
  const RecurrentBatch& right;
  bool by_token;  // each token has a slot index

  // The slot that an index means, by the number of an index among those of a sequence.
  int64_t slot(const BatchSequence& s, int64_t i) const {
    if (!right.has_slots) return s.index;
    const int64_t place = by_token ? s.first_token + i : s.index;
    const int64_t slot = call.slots[static_cast<size_t>(place)];
    return is_live(slot) ? slot : none;
  }
  bool is_live(int64_t slot) const {
    const Dialect::Padding padding = c.dialect.padding;
    const bool from_1_on = padding == Dialect::Padding::not_positive_zeroes ||
                           padding == Dialect::Padding::slot_zero_is_null;
    return slot >= (from_1_on ? 1 : 0) && slot < c.pool.slots;
  }
  int64_t indices(const BatchSequence& s) const { return by_token ? s.tokens : 1; }
  int64_t accepted(int64_t n) const {
    return call.accepted.empty() ? 1 : call.accepted[static_cast<size_t>(n)];
  }
};

// A sequence that starts from another slot: what was padding may be none, and the reverse.
void restart(const Told& t, RecurrentBatch& batch, BatchSequence& s, int64_t slot) {
  const bool was_padding = s.is_padding;
  s.start_slot = slot;
  s.is_padding = slot < 0;
  if (s.is_padding == was_padding) return;
  const bool skips = t.c.dialect.padding == Dialect::Padding::negative_skips;
  const OutputKind padded = skips ? OutputKind::untouched : OutputKind::zero;
  for (int64_t i = 0; i < s.tokens; ++i) {
    const auto token = static_cast<size_t>(s.first_token + i);
    batch.output[token] = s.is_padding ? padded : OutputKind::computed;
    batch.store[token] = s.is_padding || !t.by_token ? none : t.slot(s, i);
  }
}

using Change = void (*)(const Told& t, RecurrentBatch& batch);

void each(RecurrentBatch& batch, const auto& change) {
  for (BatchSequence& s : batch.sequences) change(s);
}

// Sequences that are left out keep their states and outputs.
void leave_out(RecurrentBatch& batch, const auto& is_left_out) {
  for (const BatchSequence& s : batch.sequences) {
    if (!is_left_out(s)) continue;
    std::fill_n(batch.store.begin() + s.first_token, s.tokens, none);
    std::fill_n(batch.output.begin() + s.first_token, s.tokens, OutputKind::untouched);
  }
  std::erase_if(batch.sequences, is_left_out);
}

// Where an index leaves the sequence's own nothing is known.
void start_by(const Told& t, RecurrentBatch& batch, const auto& accepted_of) {
  each(batch, [&](BatchSequence& s) {
    const int64_t accepted = accepted_of(s);
    if (accepted >= 1 && accepted <= t.indices(s)) restart(t, batch, s, t.slot(s, accepted - 1));
  });
}

void from_zero_by(const Told& t, RecurrentBatch& batch, const auto& place_of) {
  if (t.call.from_zero.empty()) return;
  each(batch, [&](BatchSequence& s) {
    s.from_zero = t.call.from_zero[static_cast<size_t>(place_of(s))] != 0;
  });
}

void output_of_tokens_without_a_slot(const Told& t, RecurrentBatch& batch, OutputKind kind) {
  if (!t.by_token) return;
  for (const BatchSequence& s : batch.sequences) {
    for (int64_t i = 0; i < s.tokens && !s.is_padding; ++i) {
      if (t.slot(s, i) < 0) batch.output[static_cast<size_t>(s.first_token + i)] = kind;
    }
  }
}

int64_t neighbour(const BatchSequence& s) { return std::max<int64_t>(0, s.index - 1); }

struct Story {
  const char* name;  // as a mutant with it is named
  const char* sentence;
  Change change;
};

const Story stories[] = {
    {"accepted_count_off_by_one", "a sequence starts from the token before the last accepted one",
     [](const Told& t, RecurrentBatch& b) {
       start_by(t, b, [&](const auto& s) { return std::max<int64_t>(1, t.accepted(s.index) - 1); });
     }},
    {"accepted_count_is_one_more", "a sequence starts from the token behind the last accepted one",
     [](const Told& t, RecurrentBatch& b) {
       start_by(t, b, [&](const auto& s) { return t.accepted(s.index) + 1; });
     }},
    {"start_slot_of_the_first_token",
     "a sequence starts from its first slot, however many drafts were accepted",
     [](const Told& t, RecurrentBatch& b) { start_by(t, b, [](const auto&) { return 1; }); }},
    {"newest_draft_taken_as_accepted",
     "a sequence starts from its last slot, however many drafts were accepted",
     [](const Told& t, RecurrentBatch& b) {
       start_by(t, b, [&](const auto& s) { return t.indices(s); });
     }},
    {"accepted_count_of_the_neighbour", "a sequence takes the accepted count of the one before it",
     [](const Told& t, RecurrentBatch& b) {
       start_by(t, b, [&](const auto& s) {
         const int64_t count = t.accepted(neighbour(s));
         return count < 1 || count > t.indices(s) ? 1 : count;
       });
     }},
    {"accepted_count_of_the_first_sequence", "every sequence takes the accepted count of the first",
     [](const Told& t, RecurrentBatch& b) {
       start_by(t, b, [&](const auto&) { return t.accepted(0); });
     }},
    {"from_zero_is_ignored", "a sequence that should start from zero starts from its slot",
     [](const Told&, RecurrentBatch& b) { each(b, [](auto& s) { s.from_zero = false; }); }},
    {"from_zero_of_the_first_sequence", "every sequence starts from zero where the first one does",
     [](const Told& t, RecurrentBatch& b) {
       from_zero_by(t, b, [](const auto&) { return int64_t{0}; });
     }},
    {"from_zero_of_the_neighbour", "a sequence starts from zero where the one before it does",
     [](const Told& t, RecurrentBatch& b) { from_zero_by(t, b, neighbour); }},
    {"every_sequence_starts_from_zero", "a sequence starts from zero, whatever its slot holds",
     [](const Told&, RecurrentBatch& b) { each(b, [](auto& s) { s.from_zero = true; }); }},
    {"state_of_the_first_slot", "every sequence starts from slot 0",
     [](const Told&, RecurrentBatch& b) {
       each(b, [](auto& s) { s.start_slot = s.is_padding ? s.start_slot : 0; });
     }},
    {"state_of_the_neighbour", "a sequence starts from the slot of the one before it",
     [](const Told&, RecurrentBatch& b) {
       for (size_t i = b.sequences.size(); i-- > 1;) {
         const bool live = !b.sequences[i].is_padding && b.sequences[i - 1].start_slot >= 0;
         if (live) b.sequences[i].start_slot = b.sequences[i - 1].start_slot;
       }
     }},
    {"slots_counted_from_the_first_sequence",
     "slot indices of a sequence are sought among those of the first",
     [](const Told& t, RecurrentBatch& b) {
       if (!t.by_token) return;
       each(b, [&](auto& s) {
         const auto place = static_cast<size_t>(t.accepted(s.index) - 1);
         const int64_t slot = place < t.call.slots.size() ? t.call.slots[place] : none;
         restart(t, b, s, t.is_live(slot) ? slot : none);
       });
     }},
    {"empty_sequence_ends_the_batch", "sequences behind one without tokens are left out",
     [](const Told& t, RecurrentBatch& b) {
       const auto& lengths = t.call.lengths;
       const auto first = std::find(lengths.begin(), lengths.end(), 0) - lengths.begin();
       leave_out(b, [&](const auto& s) { return s.index > first; });
     }},
    {"first_sequence_alone", "all sequences but the first are left out",
     [](const Told&, RecurrentBatch& b) {
       leave_out(b, [](const auto& s) { return s.index > 0; });
     }},
    {"last_sequence_is_left_out", "the last sequence is left out",
     [](const Told&, RecurrentBatch& b) {
       const int64_t last = b.sequence_count - 1;
       leave_out(b, [&](const auto& s) { return s.index == last; });
     }},
    {"sequences_beyond_32_left_out", "sequences beyond 32 are left out",
     [](const Told&, RecurrentBatch& b) {
       leave_out(b, [](const auto& s) { return s.index >= 32; });
     }},
    {"last_sequence_takes_the_tail", "the last sequence goes on to the last token",
     [](const Told& t, RecurrentBatch& b) {
       if (b.sequences.empty()) return;
       BatchSequence& last = b.sequences.back();
       const int64_t end = last.first_token + last.tokens;
       last.tokens = std::ssize(b.store) - last.first_token;
       if (!t.by_token) std::swap(b.store[static_cast<size_t>(end - 1)], b.store.back());
       for (int64_t i = end; t.by_token && i < std::ssize(b.store); ++i) {
         b.store[static_cast<size_t>(i)] = t.slot(last, i - last.first_token);
       }
     }},
    {"only_the_last_draft_is_stored", "of a sequence's states the last one alone is stored",
     [](const Told&, RecurrentBatch& b) {
       for (const BatchSequence& s : b.sequences) {
         std::fill_n(b.store.begin() + s.first_token, s.tokens - 1, none);
       }
     }},
    {"sequences_beyond_32_left_out", "states of sequences beyond 32 are not stored",
     [](const Told&, RecurrentBatch& b) {
       for (const BatchSequence& s : b.sequences) {
         if (s.index >= 32) std::fill_n(b.store.begin() + s.first_token, s.tokens, none);
       }
     }},
    {"slot_is_the_first_token", "a sequence is in the slot of its first token's number",
     [](const Told& t, RecurrentBatch& b) {
       if (t.by_token) return;
       each(b, [&](auto& s) {
         const bool is_slot = !s.is_padding && s.first_token < t.c.pool.slots;
         if (is_slot) s.start_slot = s.first_token;
         int64_t& store = b.store[static_cast<size_t>(s.first_token + s.tokens - 1)];
         if (is_slot && store >= 0) store = s.first_token;
       });
     }},
    {"first_token_of_all_ignored", "the first sequence starts at token 0, whatever its coding says",
     [](const Told& t, RecurrentBatch& b) {
       const auto begin = t.call.at(Argument::start);
       std::rotate(b.store.begin(), b.store.begin() + begin, b.store.end());
       std::rotate(b.output.begin(), b.output.begin() + begin, b.output.end());
       each(b, [&](auto& s) {
         s.first_token -= begin;
         for (int64_t i = 0; t.by_token && !s.is_padding && i < s.tokens; ++i) {
           b.store[static_cast<size_t>(s.first_token + i)] = t.slot(s, i);
         }
         restart(t, b, s, t.slot(s, t.accepted(s.index) - 1));
       });
     }},
    {"token_without_a_slot_gives_0", "a token whose own slot is padding gives 0",
     [](const Told& t, RecurrentBatch& b) {
       output_of_tokens_without_a_slot(t, b, OutputKind::zero);
     }},
    {"token_without_a_slot_gives_nothing", "a token whose own slot is padding gives no output",
     [](const Told& t, RecurrentBatch& b) {
       output_of_tokens_without_a_slot(t, b, OutputKind::untouched);
     }},
};

// What a token gave, where anything is wanted of it; what was untouched is a NaN there.
Verdict output_within(const Case& c, const RecurrentBatch& right, const RecurrentBatch& other,
                      const std::vector<float>& got, const Bounded& want) {
  const auto width = static_cast<size_t>(c.shape.v_dim());
  Verdict all = claim(true, "");
  for (size_t t = 0; t < right.output.size() && all.holds(); ++t) {
    const bool is_known =
        right.output[t] == OutputKind::computed || right.output[t] == OutputKind::zero;
    if (!is_known) continue;
    const std::vector<float> row(got.begin() + static_cast<int64_t>(t * width),
                                 got.begin() + static_cast<int64_t>((t + 1) * width));
    const auto is_all = [&](const auto& is_so) {
      return std::all_of(row.begin(), row.end(), is_so);
    };
    if (other.output[t] == OutputKind::untouched) {
      all = both(std::move(all), claim(is_all([](float x) { return std::isnan(x); }), "it gave o"));
    } else if (other.output[t] == OutputKind::zero) {
      all = both(std::move(all), claim(is_all([](float x) { return x == 0; }), "o is not 0"));
    } else {
      all = both(std::move(all), within("o", row, slice(want, t * width, width)));
    }
  }
  return all;
}

Verdict explained(const WrongBatch& wrong, const RecurrentBatch& right, const RecurrentBatch& other,
                  const Lab& lab) {
  const CallExpectation want = expect_batch(wrong.c, wrong.call, other, wrong.pool, lab.contract());
  const auto& got = wrong.seen.arrays;
  Verdict all = output_within(wrong.c, right, other, got.at("o"), want.arrays.at("o"));
  for (const auto& [name, numbers] : want.arrays) {
    if (!all.holds()) return all;
    if (name == "o" || numbers.size() == 0) continue;
    const auto found = got.find(name);
    if (found == got.end()) return claim(false, "it gave no " + name);
    all = both(std::move(all), within(name, found->second, numbers));
  }
  return all;
}

bool is_right(const WrongBatch& at, const BatchSequence& s, const RecurrentBatch& batch,
              const CallExpectation& want) {
  const auto width = static_cast<size_t>(at.c.shape.v_dim());
  const auto size = static_cast<size_t>(at.c.shape.state_count());
  const auto holds = [&](const char* array, size_t begin, size_t count) {
    const std::vector<float>& all = at.seen.arrays.at(array);
    if (all.size() < begin + count) return false;
    const std::span<const float> got(all.data() + begin, count);
    return within(array, got, slice(want.arrays.at(array), begin, count)).outcome != Outcome::fails;
  };
  if (s.is_padding) return true;
  bool all =
      holds("o", static_cast<size_t>(s.first_token) * width, static_cast<size_t>(s.tokens) * width);
  for (int64_t t = s.first_token; t < s.first_token + s.tokens; ++t) {
    const int64_t slot = batch.store[static_cast<size_t>(t)];
    if (slot >= 0) all = all && holds("S", static_cast<size_t>(slot) * size, size);
  }
  for (int64_t back = 0; back < std::min(batch.snapshots, s.tokens); ++back) {
    const auto place = static_cast<size_t>(back * batch.sequence_count + s.index);
    all = all && holds("snapshots", place * size, size);
  }
  return all;
}

std::optional<Case> sequence_alone(const WrongBatch& at, const BatchSequence& s) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(at.c, &why);
  if (!numbers) return std::nullopt;
  const int64_t first = first_tokens(at.c)[at.call] + s.first_token;
  Case alone = at.c.with_calls({});
  alone.pool = {};
  alone.tokens = s.tokens;
  alone.numbers.clear();
  const auto rows = [](const std::vector<float>& all, int64_t begin, int64_t count) {
    return std::vector<float>(all.begin() + begin, all.begin() + begin + count);
  };
  for (const auto& [name, all] : numbers->arrays) {
    if (all.empty() || name == "S") continue;
    const int64_t width = std::ssize(all) / at.c.tokens;
    alone = alone.with_numbers(name, rows(all, first * width, s.tokens * width));
  }
  const int64_t size = at.c.shape.state_count();
  std::vector<float> state(static_cast<size_t>(size), 0);
  if (!s.from_zero) state = rows(at.pool, s.start_slot * size, size);
  alone = alone.with_numbers("S", state);
  return why_invalid(alone).empty() ? std::optional(alone) : std::nullopt;
}

}  // namespace

std::string WrongBatch::where() const {
  const std::string in_call = fmt::format("call {}", call + 1);
  return sequence < 0 ? in_call : fmt::format("sequence {} of {}", sequence, in_call);
}

std::optional<WrongBatch> wrong_batch(const Case& c, const Lab& lab) {
  const auto is_other = [](const Call& call) { return call.kind != CallKind::recurrent; };
  if (c.subject != Subject::recurrent || c.calls.empty() || !why_invalid(c).empty() ||
      std::any_of(c.calls.begin(), c.calls.end(), is_other)) {
    return std::nullopt;
  }
  const Observation seen = lab.run(c);
  WrongBatch at;
  at.c = c;
  at.pool = lab.first_pool(c);
  at.wrote_elsewhere = seen.conduct.outcome == Outcome::fails;
  for (size_t i = 0; i < seen.calls.size(); ++i) {
    at.call = i;
    at.seen = seen.calls[i];
    const CallExpectation want = lab.expect_recurrent(c, i, at.pool);
    if (want.refused != !at.seen.ok()) return std::nullopt;
    if (want.refused) continue;
    const RecurrentBatch batch = batch_of(c, c.calls[i]);
    for (const BatchSequence& s : batch.sequences) {
      if (is_right(at, s, batch, want)) continue;
      at.sequence = s.index;
      at.alone = sequence_alone(at, s);
      return at;
    }
    for (const auto& [name, numbers] : want.arrays) {
      if (numbers.size() == 0) continue;
      if (within(name, at.seen.arrays.at(name), numbers).outcome == Outcome::fails) return at;
    }
    at.pool = at.seen.arrays.at("S");
  }
  if (at.wrote_elsewhere) return at;
  return std::nullopt;
}

std::vector<Explanation> batch_causes(const WrongBatch& wrong, const Lab& lab) {
  const Call& call = wrong.c.calls[wrong.call];
  const RecurrentBatch right = batch_of(wrong.c, call);
  const Told told{wrong.c, call, right, right.writes == Dialect::StateWrites::every_token};
  std::vector<Explanation> causes;
  // What no array shows none explains.
  if (explained(wrong, right, right, lab).holds()) return causes;
  for (const Story& story : stories) {
    RecurrentBatch other = right;
    story.change(told, other);
    const Verdict verdict = explained(wrong, right, other, lab);
    if (!verdict.holds()) continue;
    Explanation cause;
    cause.name = story.name;
    cause.sentence = story.sentence;
    cause.worst_ratio = verdict.worst_ratio;
    cause.elements = verdict.elements;
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace gdn
