// How small a change of one element is always seen: the detection limit of the checks, tensor by
// tensor, against that of rules that public test suites use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ci/limit_rules.h"
#include "invariants/harness/lab.h"
#include "reference/case.h"
#include "reference/tensor.h"

namespace gdn {

// Layers of one shape in one state: `horizon` tokens are remembered, since decay and writes both
// take that long, and three times as many were fed before the token that is judged.
struct LimitPlace {
  std::string name;  // of the shape
  Shape shape;
  int64_t horizon = 1;
  bool is_global = false;  // judged from weights and h alone, by our bound alone
  int64_t cases = 1;       // the trials are shared out among them
};
std::vector<LimitPlace> limit_places(bool quick);
Case limit_case(const LimitPlace& place, uint64_t seed, int64_t index);

// The smallest change of one element, in its own direction, that a rule refuses, and all larger
// ones with it.
struct SmallestSeen {
  double ulps = 0;    // of the element as it was
  double of_row = 0;  // relative to the norm of the element's row
};

// Of one case: [tensor][rule][trial]. Empty, and *why, where the engine did not serve it or its
// own numbers do not hold; else *why holds.
struct TensorTrials {
  Tensor tensor = Tensor::QKV;
  std::vector<std::vector<SmallestSeen>> rules;
};
std::vector<TensorTrials> trials_of(const LimitPlace& place, const Case& c, const Lab& lab,
                                    int64_t trials, Verdict* why);

struct LimitRow {
  std::string place;
  int64_t horizon = 1;
  bool is_global = false;
  Tensor tensor = Tensor::QKV;
  size_t trials = 0;
  // Of each rule: half of the trials are seen at `median`, every one of them at `all`.
  struct Limit {
    SmallestSeen median, all;
  };
  std::vector<Limit> rules;
};
LimitRow row_of(const LimitPlace& place, const std::vector<const TensorTrials*>& trials);

struct LimitReport {
  std::string command, version, engine;
  uint64_t seed = 0;
  int64_t trials = 0;
  std::vector<LimitRow> rows;
};
// With no miss in so many trials, the chance of one is below this with 95 % confidence.
double miss_probability_below(int64_t trials);
std::string as_text(const LimitReport& report);
std::string as_json(const LimitReport& report);
std::string as_markdown(const LimitReport& report);

}  // namespace gdn
