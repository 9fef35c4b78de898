// Known faults of how a batch finds its tokens, states and outputs: what the call then gives.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ci/triage/batch_form.h"

namespace gdn {
namespace {

using Arrays = BatchArrays;
using Scene = BatchScene;
using States = BatchStates;

std::optional<Arrays> accepted(const Scene& scene,
                               const std::function<int64_t(int64_t, size_t)>& to) {
  Call other = scene.call();
  for (size_t n = 0; n < other.accepted.size(); ++n) {
    if (other.accepted[n] > 0) other.accepted[n] = to(other.accepted[n], n);
  }
  return scene.of(other);
}

// The most that sequence n can have had accepted.
int64_t drafts_of(const Call& call, size_t n) {
  const int64_t tokens = call.lengths.empty() ? call.at(Argument::tokens) : call.lengths[n];
  return std::max<int64_t>(1, tokens);
}

std::optional<Arrays> one_fewer_accepted(const Scene& scene) {
  return accepted(scene, [](int64_t count, size_t) { return std::max<int64_t>(1, count - 1); });
}

std::optional<Arrays> one_more_accepted(const Scene& scene) {
  return accepted(scene, [&](int64_t count, size_t n) {
    return std::min(count + 1, drafts_of(scene.call(), n));
  });
}

std::optional<Arrays> all_accepted(const Scene& scene) {
  return accepted(scene, [&](int64_t, size_t n) { return drafts_of(scene.call(), n); });
}

std::optional<Arrays> none_accepted(const Scene& scene) {
  return accepted(scene, [](int64_t, size_t) { return int64_t{1}; });
}

std::optional<Arrays> accepted_of_the_first(const Scene& scene) {
  Call other = scene.call();
  if (other.accepted.empty()) return std::nullopt;
  std::fill(other.accepted.begin(), other.accepted.end(), other.accepted.front());
  return scene.of(other);
}

std::optional<Arrays> from_zero_of_the_first(const Scene& scene) {
  Call other = scene.call();
  if (other.from_zero.empty()) return std::nullopt;
  std::fill(other.from_zero.begin(), other.from_zero.end(), other.from_zero.front());
  return scene.of(other);
}

std::optional<Arrays> from_zero_in_one_byte(const Scene& scene) {
  Call other = scene.call();
  for (int64_t& flag : other.from_zero) flag &= 0xff;
  return scene.of(other);
}

std::optional<Arrays> from_zero_ignored(const Scene& scene) {
  Call other = scene.call();
  std::fill(other.from_zero.begin(), other.from_zero.end(), 0);
  return scene.of(other);
}

std::optional<Arrays> tail_to_the_last(const Scene& scene) {
  Call other = scene.call();
  if (other.lengths.empty() || other.lengths.back() == 0) return std::nullopt;
  int64_t taken = other.at(Argument::start);
  for (const int64_t length : other.lengths) taken += length;
  other.lengths.back() += other.at(Argument::tokens) - taken;
  return scene.of(other);
}

std::optional<Arrays> slots_of_first_tokens(const Scene& scene) {
  Call other = scene.call();
  if (!other.slots.empty() || other.lengths.empty()) return std::nullopt;
  int64_t token = other.at(Argument::start);
  for (const int64_t length : other.lengths) {
    other.slots.push_back(token);
    token += length;
  }
  Case changed = scene.c;
  changed.calls[scene.wrong.call] = other;
  changed.dialect.padding = Dialect::Padding::not_allowed;
  changed.dialect.state_writes = Dialect::StateWrites::final_only;
  return scene.of(changed);
}

std::optional<Arrays> negative_slots(const Scene& scene, int64_t mean) {
  Call other = scene.call();
  for (int64_t& slot : other.slots) slot = slot < 0 ? mean : slot;
  return scene.of(other);
}

std::optional<Arrays> negative_is_last(const Scene& scene) {
  return negative_slots(scene, scene.c.pool.slots - 1);
}

std::optional<Arrays> negative_is_zero(const Scene& scene) { return negative_slots(scene, 0); }

std::optional<Arrays> zero_is_a_slot(const Scene& scene) {
  if (scene.c.dialect.padding != Dialect::Padding::not_positive_zeroes) return std::nullopt;
  Case changed = scene.c;
  changed.dialect.padding = Dialect::Padding::negative_zeroes;
  return scene.of(changed);
}

// It may be moved there, or copied.
std::optional<Arrays> final_to_the_start(const Scene& scene, bool is_moved) {
  if (!scene.is(Dialect::StateWrites::every_token)) return std::nullopt;
  Arrays arrays = scene.right();
  States pool(arrays["S"], scene.c.shape);
  const Bounded right = scene.right().at("S");
  const Bounded before = exactly(scene.wrong.pool);
  for (const BatchSequence& s : scene.batch().sequences) {
    const int64_t last = scene.batch().store[static_cast<size_t>(s.first_token + s.tokens - 1)];
    if (s.is_padding || last < 0 || last == s.start_slot) continue;
    if (is_moved) pool.copy(before, last, last);
    pool.copy(right, last, s.start_slot);
  }
  return arrays;
}

std::optional<Arrays> final_copied_to_the_start(const Scene& scene) {
  return final_to_the_start(scene, false);
}

std::optional<Arrays> final_moved_to_the_start(const Scene& scene) {
  return final_to_the_start(scene, true);
}

// Of the states that a call stores for each token, these alone.
std::optional<Arrays> stored_alone(const Scene& scene,
                                   bool (*is_stored)(int64_t t, int64_t tokens)) {
  if (!scene.is(Dialect::StateWrites::every_token)) return std::nullopt;
  Arrays arrays = scene.right();
  States pool(arrays["S"], scene.c.shape);
  const Bounded before = exactly(scene.wrong.pool);
  for (const BatchSequence& s : scene.batch().sequences) {
    for (int64_t t = 0; t < s.tokens; ++t) {
      const int64_t slot = scene.batch().store[static_cast<size_t>(s.first_token + t)];
      if (slot >= 0 && !is_stored(t, s.tokens)) pool.copy(before, slot, slot);
    }
  }
  return arrays;
}

std::optional<Arrays> last_draft_alone(const Scene& scene) {
  return stored_alone(scene, [](int64_t t, int64_t tokens) { return t == tokens - 1; });
}

std::optional<Arrays> all_but_the_last_draft(const Scene& scene) {
  return stored_alone(scene, [](int64_t t, int64_t tokens) { return t < tokens - 1; });
}

// Each state of a sequence overwrites the one before it, in the slot of its first token.
std::optional<Arrays> all_to_the_first_slot(const Scene& scene) {
  if (!scene.is(Dialect::StateWrites::every_token)) return std::nullopt;
  Arrays arrays = scene.right();
  States pool(arrays["S"], scene.c.shape);
  const Bounded right = scene.right().at("S");
  const Bounded before = exactly(scene.wrong.pool);
  for (const BatchSequence& s : scene.batch().sequences) {
    const auto slot_of = [&](int64_t t) {
      return scene.batch().store[static_cast<size_t>(s.first_token + t)];
    };
    for (int64_t t = 0; t < s.tokens; ++t) {
      if (slot_of(t) >= 0) pool.copy(before, slot_of(t), slot_of(t));
    }
    const int64_t last = slot_of(s.tokens - 1);
    if (last >= 0 && slot_of(0) >= 0) pool.copy(right, last, slot_of(0));
  }
  return arrays;
}

std::optional<Arrays> empty_cleared(const Scene& scene) {
  const Call& call = scene.call();
  if (!scene.is(Dialect::StateWrites::final_only)) return std::nullopt;
  Arrays arrays = scene.right();
  States pool(arrays["S"], scene.c.shape);
  bool cleared = false;
  for (size_t n = 0; n < call.lengths.size(); ++n) {
    const int64_t slot = call.slots.empty() ? static_cast<int64_t>(n) : call.slots[n];
    if (call.lengths[n] > 0 || slot < 0 || slot >= scene.c.pool.states) continue;
    pool.fill(slot, 0);
    cleared = true;
  }
  return cleared ? std::optional(arrays) : std::nullopt;
}

std::optional<Arrays> oldest_first(const Scene& scene) {
  if (scene.batch().snapshots < 2) return std::nullopt;
  Arrays arrays = scene.right();
  States kept(arrays["snapshots"], scene.c.shape);
  const Bounded right = scene.right().at("snapshots");
  for (const BatchSequence& s : scene.batch().sequences) {
    const int64_t count = std::min(s.tokens, scene.batch().snapshots);
    const auto place = [&](int64_t k) { return k * scene.batch().sequence_count + s.index; };
    for (int64_t k = 0; k < count && !s.is_padding; ++k) {
      kept.copy(right, place(count - 1 - k), place(k));
    }
  }
  return arrays;
}

// An output that was to be zero stays what the Lab had put there: a NaN.
std::optional<Arrays> zeroes_left_out(const Scene& scene) {
  Arrays arrays = scene.right();
  Bounded& o = arrays["o"];
  bool left = false;
  const auto width = static_cast<size_t>(scene.c.shape.v_dim());
  for (size_t t = 0; t < scene.batch().output.size(); ++t) {
    if (scene.batch().output[t] != OutputKind::zero) continue;
    std::fill_n(o.value.begin() + static_cast<int64_t>(t * width), width,
                std::numeric_limits<double>::quiet_NaN());
    left = true;
  }
  return left ? std::optional(arrays) : std::nullopt;
}

std::optional<Arrays> as_right(const Scene& scene) { return scene.right(); }

std::optional<Arrays> as_right_with_padding(const Scene& scene) {
  const auto& s = scene.batch().sequences;
  const bool has_padding =
      std::any_of(s.begin(), s.end(), [](const BatchSequence& one) { return one.is_padding; });
  return has_padding ? as_right(scene) : std::nullopt;
}

constexpr const char* into_output = "o of a token that has none";

const BatchForm forms[] = {
    {"accepted_count_off_by_one", "a sequence starts one draft before the last accepted one",
     one_fewer_accepted},
    {"newest_draft_taken_as_accepted", "a sequence starts from its newest draft", all_accepted},
    {"accepted_count_taken_from_zero", "a sequence starts one draft after the last accepted one",
     one_more_accepted},
    {"start_slot_of_the_first_token", "accepted drafts are not counted", none_accepted},
    {"accepted_count_of_the_first_sequence", "all sequences take the first one's accepted count",
     accepted_of_the_first},
    {"from_zero_flag_of_one_byte", "the lowest byte of from_zero decides", from_zero_in_one_byte},
    {"from_zero_of_the_first_sequence", "all sequences take the first one's from_zero",
     from_zero_of_the_first},
    {"from_zero_is_ignored", "a sequence from zero starts from its slot", from_zero_ignored},
    {"last_sequence_takes_the_tail", "the last sequence takes the tokens of none", tail_to_the_last,
     into_output},
    {"slot_is_the_first_token", "without slots, a sequence's is the number of its first token",
     slots_of_first_tokens},
    {"negative_slot_is_the_last_one", "a negative slot counts from the end", negative_is_last},
    {"negative_slot_is_slot_zero", "a negative slot is slot 0", negative_is_zero},
    {"slot_zero_is_never_padding", "slot 0 is computed although it is padding", zero_is_a_slot},
    {"final_state_goes_to_the_start_slot", "a sequence's last state overwrites its first",
     final_copied_to_the_start},
    {"final_state_goes_to_the_start_slot", "a sequence's last state goes to its start slot alone",
     final_moved_to_the_start},
    {"only_the_last_draft_is_stored", "of a sequence's states the last alone is stored",
     last_draft_alone},
    {"last_draft_is_not_stored", "a sequence's last state is not stored", all_but_the_last_draft},
    {"every_state_to_the_first_slot", "each state goes to the slot of its sequence's first token",
     all_to_the_first_slot},
    {"empty_sequence_clears_its_slot", "a sequence of no tokens clears its slot", empty_cleared},
    {"snapshots_oldest_first", "snapshots are kept with the oldest first", oldest_first},
    {"padded_output_is_not_zeroed", "outputs of padding are left as they were", zeroes_left_out},
    {"skipped_output_is_zeroed", "outputs that padding leaves alone are written",
     as_right_with_padding, into_output},
    {"short_sequence_fills_every_snapshot", "snapshots that have no state are written", as_right,
     "a snapshot that there is no state for"},
    {"state_store_runs_into_the_gap", "storing a state writes behind it", as_right,
     "between slots"},
};

// What the call has no number for was taken as 0, whatever the fault would have made of it.
void clear_what_is_not_asked(const Scene& scene, Bounded& o) {
  const auto width = static_cast<size_t>(scene.c.shape.v_dim());
  for (size_t t = 0; t < scene.batch().output.size(); ++t) {
    const OutputKind kind = scene.batch().output[t];
    if (kind == OutputKind::computed || kind == OutputKind::zero) continue;
    for (size_t i = t * width; i < (t + 1) * width; ++i) {
      o.value[i] = 0;
      o.bound[i] = 0;
    }
    std::erase_if(o.tolerated, [&](const Tolerated& one) { return one.index / width == t; });
  }
}

bool writes_as_seen(const BatchForm& form, const std::string& misconduct) {
  if (form.writes[0] != '\0') return misconduct.find(form.writes) != std::string::npos;
  // A state in a slot that should have kept its own is among the numbers that are compared.
  return misconduct.empty() || misconduct.find("into slot") != std::string::npos;
}

std::optional<Explanation> explained_by(const BatchForm& form, const Scene& scene) {
  if (!writes_as_seen(form, scene.wrong.misconduct)) return std::nullopt;
  std::optional<Arrays> arrays = form.expect(scene);
  if (!arrays) return std::nullopt;
  Explanation explanation;
  explanation.name = form.name;
  explanation.sentence = form.sentence;
  for (auto& [name, want] : *arrays) {
    if (want.size() == 0) continue;
    if (name == "o") clear_what_is_not_asked(scene, want);
    const auto got = scene.wrong.gave.find(name);
    if (got == scene.wrong.gave.end()) return std::nullopt;
    const Verdict verdict = within(name, got->second, want);
    if (verdict.outcome == Outcome::fails) return std::nullopt;
    explanation.elements += verdict.elements;
    explanation.worst_ratio = std::max(explanation.worst_ratio, verdict.worst_ratio);
  }
  return explanation;
}

}  // namespace

std::vector<Explanation> explanations_of(const Case& c, const WrongBatch& wrong, const Lab& lab) {
  const Scene scene{c, wrong, lab};
  std::vector<Explanation> explanations;
  const auto ask = [&](const BatchForm& form) {
    std::optional<Explanation> one = explained_by(form, scene);
    if (one) explanations.push_back(*std::move(one));
  };
  for (const BatchForm& form : forms) ask(form);
  for (const BatchForm& form : forms_of_what_is_left_out()) ask(form);
  return explanations;
}

}  // namespace gdn
