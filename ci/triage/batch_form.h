// A known fault of addressing, as what a wrong call of the recurrence then gives.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/batch.h"

namespace gdn {

using BatchArrays = std::map<std::string, Bounded>;

struct BatchScene {
  const Case& c;
  const WrongBatch& wrong;
  const Lab& lab;

  const Call& call() const { return c.calls[wrong.call]; }
  const RecurrentBatch& batch() const { return wrong.batch; }
  BatchArrays right() const { return wrong.want.arrays; }
  bool is(Dialect::StateWrites writes) const { return batch().writes == writes; }

  // What the reference says of another call on the same tokens and states. Nothing where it is the
  // same call, or none that is right.
  std::optional<BatchArrays> of(const Case& other) const {
    if (print(other) == print(c)) return std::nullopt;
    if (!why_invalid(other).empty()) return std::nullopt;
    CallExpectation want = lab.expect_recurrent(other, wrong.call, wrong.pool);
    if (want.refused) return std::nullopt;
    return std::move(want.arrays);
  }
  std::optional<BatchArrays> of(const Call& other) const {
    Case changed = c;
    changed.calls[wrong.call] = other;
    return of(changed);
  }
};

// States in an array of many.
class BatchStates {
 public:
  BatchStates(Bounded& all, const Shape& shape)
      : all_(all), count_(static_cast<size_t>(shape.state_count())) {}

  void copy(const Bounded& from, int64_t place, int64_t to) {
    const size_t source = static_cast<size_t>(place) * count_;
    const size_t target = static_cast<size_t>(to) * count_;
    if (all_.bound.empty()) all_.bound.assign(all_.value.size(), 0);
    for (size_t i = 0; i < count_; ++i) {
      all_.value[target + i] = from.value[source + i];
      all_.bound[target + i] = from.bound_of(source + i);
    }
  }
  void fill(int64_t to, double value) {
    if (all_.bound.empty()) all_.bound.assign(all_.value.size(), 0);
    const size_t target = static_cast<size_t>(to) * count_;
    std::fill_n(all_.value.begin() + static_cast<int64_t>(target), count_, value);
    std::fill_n(all_.bound.begin() + static_cast<int64_t>(target), count_, 0);
  }

 private:
  Bounded& all_;
  size_t count_;
};

struct BatchForm {
  const char* name;
  const char* sentence;
  // Nothing where this call cannot show the fault.
  std::optional<BatchArrays> (*expect)(const BatchScene& scene);
  const char* writes = "";  // what is written beside the arrays, as the Lab words it; "" nothing
};

// Sequences, tokens and snapshots that are passed over; ci/triage/batch_forms_left_out.cpp.
const std::vector<BatchForm>& forms_of_what_is_left_out();

}  // namespace gdn
