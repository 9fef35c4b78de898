// Small changes of a case for coverage-guided search: a field of it, a call, a bit of a number.
// What comes out is valid again, and is a pure function of what goes in.
#pragma once

#include <functional>
#include <span>

#include "reference/case.h"
#include "reference/rng.h"

namespace gdn {

// Which cases a target is about; a change that leads out of it is tried again elsewhere.
using Serves = std::function<bool(const Case&)>;

// A change of one theme. It may find nothing to change, or make a case that is invalid.
using Change = void (*)(Case&, Rng&);
void change_dimension(Case& c, Rng& rng);
void change_recipe(Case& c, Rng& rng);
void change_dialect(Case& c, Rng& rng);
void change_calls(Case& c, Rng& rng);
void change_numbers(Case& c, Rng& rng);
void change_whole(Case& c, Rng& rng);  // seed, weights, pool, or subject
// How many calls change_calls leaves at most, 16 unless it is said: longer sequences hide more than
// they show, and shorter ones are judged faster.
size_t calls_kept();
void keep_calls(size_t count_max);
// Of a projection with 4-bit weights or of the decoder; what is drawn is given in full first.
void change_tile_counts(Case& c, Rng& rng);
void change_scale(Case& c, Rng& rng);
void change_codes(Case& c, Rng& rng);
void change_activations(Case& c, Rng& rng);
void change_projection(Case& c, Rng& rng);  // which of the three, and how it takes activations

// All but those of 4-bit weights, each as often as it is worth.
std::span<const Change> usual_changes();

// `c` itself where no change was found that fits.
Case mutated(const Case& c, Rng& rng, std::span<const Change> changes, const Serves& serves);
// Parts of both: the calls, the recipe, the shape or the numbers of `other` in `c`.
Case crossed(const Case& c, const Case& other, Rng& rng, const Serves& serves);

}  // namespace gdn
