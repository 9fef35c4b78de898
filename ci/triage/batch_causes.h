// A batch of the recurrence that is wrong: which of its sequences, whether that one alone is wrong
// as well, and which other batch would give what was got.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/fault_form.h"
#include "invariants/harness/lab.h"

namespace gdn {

struct WrongBatch {
  Case c;
  size_t call = 0;  // the first that is wrong
  int64_t sequence =
      -1;  // the first whose numbers are wrong; -1: none, it is what else was written
  std::vector<float> pool;  // before the call
  CallObserved seen;
  bool wrote_elsewhere = false;
  // That sequence from the state in its slot, without batch and pool.
  std::optional<Case> alone;

  std::string where() const;  // "sequence 1 of call 2"
};

// Of a case whose calls are all calls of the recurrence; nothing where all that was served is
// right.
std::optional<WrongBatch> wrong_batch(const Case& c, const Lab& lab);

// Known faults of batches that would explain every number of the call, by their names.
std::vector<Explanation> batch_causes(const WrongBatch& batch, const Lab& lab);

}  // namespace gdn
