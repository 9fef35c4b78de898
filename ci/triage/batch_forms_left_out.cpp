// Known faults of which sequences and tokens of a batch are served. What nobody writes stays what
// the Lab had put there: a NaN in outputs and snapshots, the state before the call in a slot.
#include <limits>

#include "ci/triage/batch_form.h"

namespace gdn {
namespace {

constexpr double never_written = std::numeric_limits<double>::quiet_NaN();

void fill_output(const BatchScene& scene, BatchArrays& arrays, int64_t token, double value) {
  Bounded& o = arrays["o"];
  const int64_t width = scene.c.shape.v_dim();
  std::fill_n(o.value.begin() + token * width, width, value);
  if (!o.bound.empty()) std::fill_n(o.bound.begin() + token * width, width, 0);
}

// Sequences of which `is_left_out` is true keep their states; their outputs are written or not.
template <class IsLeftOut>
std::optional<BatchArrays> without(const BatchScene& scene, bool is_output_written,
                                   const IsLeftOut& is_left_out) {
  BatchArrays arrays = scene.right();
  BatchStates pool(arrays["S"], scene.c.shape);
  const Bounded before = exactly(scene.wrong.pool);
  bool some = false;
  for (const BatchSequence& s : scene.batch().sequences) {
    if (s.is_padding || !is_left_out(s)) continue;
    some = true;
    for (int64_t t = s.first_token; t < s.first_token + s.tokens; ++t) {
      const int64_t slot = scene.batch().store[static_cast<size_t>(t)];
      if (slot >= 0) pool.copy(before, slot, slot);
      if (!is_output_written) fill_output(scene, arrays, t, never_written);
    }
    if (scene.batch().snapshots == 0) continue;
    BatchStates kept(arrays["snapshots"], scene.c.shape);
    for (int64_t k = 0; k < std::min(s.tokens, scene.batch().snapshots); ++k) {
      kept.fill(k * scene.batch().sequence_count + s.index, never_written);
    }
  }
  return some ? std::optional(arrays) : std::nullopt;
}

std::optional<BatchArrays> behind_an_empty_one(const BatchScene& scene) {
  const std::vector<int64_t>& lengths = scene.call().lengths;
  const auto first = std::find(lengths.begin(), lengths.end(), 0) - lengths.begin();
  return without(scene, false, [&](const BatchSequence& s) { return s.index > first; });
}

std::optional<BatchArrays> all_but_the_first(const BatchScene& scene) {
  return without(scene, false, [](const BatchSequence& s) { return s.index > 0; });
}

bool is_beyond_a_warp(const BatchSequence& s) { return s.index >= 32; }

std::optional<BatchArrays> beyond_a_warp(const BatchScene& scene) {
  return without(scene, false, is_beyond_a_warp);
}

std::optional<BatchArrays> states_beyond_a_warp(const BatchScene& scene) {
  return without(scene, true, is_beyond_a_warp);
}

// Of a live sequence, the output of tokens whose states go nowhere.
std::optional<BatchArrays> tokens_without_a_slot(const BatchScene& scene, double value) {
  if (!scene.is(Dialect::StateWrites::every_token)) return std::nullopt;
  BatchArrays arrays = scene.right();
  bool some = false;
  for (const BatchSequence& s : scene.batch().sequences) {
    for (int64_t t = s.first_token; t < s.first_token + s.tokens && !s.is_padding; ++t) {
      if (scene.batch().store[static_cast<size_t>(t)] >= 0) continue;
      fill_output(scene, arrays, t, value);
      some = true;
    }
  }
  return some ? std::optional(arrays) : std::nullopt;
}

std::optional<BatchArrays> zero_without_a_slot(const BatchScene& scene) {
  return tokens_without_a_slot(scene, 0);
}

std::optional<BatchArrays> nothing_without_a_slot(const BatchScene& scene) {
  return tokens_without_a_slot(scene, never_written);
}

// Snapshots of a short sequence stand at the end of its places, and what is there is not asked.
std::optional<BatchArrays> snapshots_at_the_end(const BatchScene& scene) {
  const int64_t places = scene.batch().snapshots;
  BatchArrays arrays = scene.right();
  const Bounded right = arrays["snapshots"];
  BatchStates kept(arrays["snapshots"], scene.c.shape);
  bool some = false;
  for (const BatchSequence& s : scene.batch().sequences) {
    const int64_t moved = places - s.tokens;
    if (s.is_padding || moved <= 0) continue;
    some = true;
    const auto place = [&](int64_t k) { return k * scene.batch().sequence_count + s.index; };
    for (int64_t k = 0; k < s.tokens; ++k) {
      if (k >= moved) kept.copy(right, place(k - moved), place(k));
      if (k < moved) kept.fill(place(k), never_written);
    }
  }
  return some ? std::optional(arrays) : std::nullopt;
}

template <class Entry>
std::optional<BatchArrays> of_the_neighbour(const BatchScene& scene,
                                            std::vector<int64_t> Call::*list, const Entry& fits) {
  Call other = scene.call();
  std::vector<int64_t>& entries = other.*list;
  for (size_t n = entries.size(); n-- > 1;) {
    if (fits(entries[n - 1], n)) entries[n] = entries[n - 1];
  }
  return scene.of(other);
}

std::optional<BatchArrays> accepted_of_the_neighbour(const BatchScene& scene) {
  const Call& call = scene.call();
  return of_the_neighbour(scene, &Call::accepted, [&](int64_t count, size_t n) {
    return n < call.lengths.size() && count >= 1 && count <= call.lengths[n];
  });
}

std::optional<BatchArrays> from_zero_of_the_neighbour(const BatchScene& scene) {
  return of_the_neighbour(scene, &Call::from_zero, [](int64_t, size_t) { return true; });
}

}  // namespace

const std::vector<BatchForm>& forms_of_what_is_left_out() {
  static const std::vector<BatchForm> forms = {
      {"empty_sequence_ends_the_batch", "sequences behind one without tokens are left out",
       behind_an_empty_one},
      {"first_sequence_alone", "all sequences but the first are left out", all_but_the_first},
      {"sequences_beyond_32_left_out", "sequences beyond 32 are left out", beyond_a_warp},
      {"sequences_beyond_32_left_out", "sequences beyond 32 keep their states",
       states_beyond_a_warp},
      {"token_without_a_slot_gives_0", "a token whose own slot is padding gives 0",
       zero_without_a_slot},
      {"token_without_a_slot_gives_nothing", "a token whose own slot is padding gives no output",
       nothing_without_a_slot},
      {"snapshots_at_the_end", "snapshots of a short sequence stand at the end of its places",
       snapshots_at_the_end, "a snapshot that there is no state for"},
      {"accepted_count_of_the_neighbour",
       "a sequence takes the accepted count of the one before it", accepted_of_the_neighbour},
      {"from_zero_of_the_neighbour", "a sequence starts from zero where the one before it does",
       from_zero_of_the_neighbour}};
  return forms;
}

}  // namespace gdn
