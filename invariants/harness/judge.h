// Tensors of many tokens against what was expected of them: one row a tensor, never pooled.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "invariants/harness/ratio_counts.h"
#include "invariants/harness/verdict.h"
#include "reference/layer.h"

namespace gdn {

struct Judgement {
  std::string source;  // whose numbers: an engine, or "captured"
  Operator op = Operator::in_proj;
  std::string tensor;
  size_t tokens = 0;  // judged
  Verdict verdict;
  size_t worst_token = 0;   // where verdict.worst_index is
  RatioCounts ratios = {};  // the worst of each token of which anything was decided
};

// Rows in the order of operators, then of tensors. A tensor that is expected of a token and was
// not seen there is not judged; one that was judged for no token has no row.
std::vector<Judgement> judge(const std::vector<TokenTensors>& seen,
                             const std::vector<TokenExpectation>& want, std::string source = "");

// One tensor over tokens, for rows that come from elsewhere. got and want are of equal length.
Judgement judge_tensor(std::string source, Operator op, std::string tensor,
                       const std::vector<const std::vector<float>*>& got,
                       const std::vector<const Bounded*>& want);

// All rows as one; not_applicable if there are none.
Verdict verdict_of(const std::vector<Judgement>& rows);

}  // namespace gdn
