// Where an engine leaves its budget first: which operator, at which token, with what it was fed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/evidence.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/verdict.h"
#include "reference/case.h"

namespace gdn {

// A dimension of a tensor, row-major as the tensor lies: what an index there counts.
struct Axis {
  const char* unit = "";  // "v-head"
  int64_t count = 0;
};

struct Located {
  Operator op = Operator::in_proj;
  std::string tensor;  // "QKV"; of a matrix on its own "y", of the decoder "out"
  int64_t layer = 0, token = 0;
  Verdict verdict;
  std::vector<float> got;
  Bounded want;
  std::vector<Axis> axes;
  // The operator on its own, through apply on the same numbers, is right: what is wrong lies in how
  // the calls lead to it.
  bool right_alone = false;
  // Of the operator over all tokens; its weights lie in `numbers`. Empty unless it was asked for.
  OperatorRun run;
  std::shared_ptr<const Numbers> numbers;
};

struct Localised {
  Verdict served;  // holds, or why there is nothing to look at
  std::optional<Located> first;
};

// A layer is fed token by token, each layer of a stack on its own, and what is read back is judged
// operator by operator on what the engine itself fed it; the case's own calls do not matter. An
// operator's case is run as it is. `with_evidence` fills Located::run.
Localised localise(const Case& c, const Lab& lab, bool with_evidence);

// The first array that is out of budget of a case of one operator.
Localised localise_operator(const Case& c, const Lab& lab, bool with_evidence);
// The recurrence on its own: its norm and its scale are told apart from it.
Localised localise_recurrent(const Case& c, const Lab& lab, bool with_evidence);

// The operator of `run` on the numbers of one of its tokens, as a case of its own.
Case case_alone(const Case& c, const OperatorRun& run, const Evidence& at);
std::vector<Axis> axes_of(Tensor tensor, const Shape& shape);
// The tensor that an array of apply is, by its name; the array's own name where it is none.
std::string tensor_of(Operator op, const std::string& array);

}  // namespace gdn
