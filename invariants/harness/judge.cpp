// One row a tensor.
#include "invariants/harness/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gdn {

Judgement judge_tensor(std::string source, Operator op, std::string tensor,
                       const std::vector<const std::vector<float>*>& got,
                       const std::vector<const Bounded*>& want) {
  Judgement row{std::move(source), op, std::move(tensor), 0, {}, 0};
  for (size_t t = 0; t < want.size(); ++t) {
    if (!got[t] || !want[t] || (want[t]->size() == 0 && got[t]->empty())) continue;
    Verdict here = within(fmt::format("{} of token {}", row.tensor, t), *got[t], *want[t]);
    if (here.elements > here.undecided) row.ratios.add(here.worst_ratio);
    if (row.tokens++ == 0) {
      row.verdict = std::move(here);
      row.worst_token = t;
      continue;
    }
    const Verdict& before = row.verdict;
    const bool worse = here.outcome > before.outcome ||
                       (here.outcome == before.outcome && here.worst_ratio > before.worst_ratio);
    if (worse) row.worst_token = t;
    row.verdict = both(std::move(row.verdict), std::move(here));
  }
  return row;
}

std::vector<Judgement> judge(const std::vector<TokenTensors>& seen,
                             const std::vector<TokenExpectation>& want, std::string source) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < tensor_count; ++i) tensors.push_back(static_cast<Tensor>(i));
  std::sort(tensors.begin(), tensors.end(), [](Tensor a, Tensor b) {
    return std::pair(operator_of(a), a) < std::pair(operator_of(b), b);
  });
  std::vector<Judgement> rows;
  const size_t tokens = std::min(seen.size(), want.size());
  for (const Tensor tensor : tensors) {
    std::vector<const std::vector<float>*> got(tokens, nullptr);
    std::vector<const Bounded*> expected(tokens, nullptr);
    for (size_t t = 0; t < tokens; ++t) {
      if (const auto at = seen[t].find(tensor); at != seen[t].end()) got[t] = &at->second;
      if (const auto at = want[t].find(tensor); at != want[t].end()) expected[t] = &at->second;
    }
    Judgement row =
        judge_tensor(source, operator_of(tensor), std::string(name_of(tensor)), got, expected);
    if (row.tokens > 0) rows.push_back(std::move(row));
  }
  return rows;
}

Verdict verdict_of(const std::vector<Judgement>& rows) {
  if (rows.empty()) return {};
  Verdict all = rows.front().verdict;
  for (size_t i = 1; i < rows.size(); ++i) all = both(std::move(all), rows[i].verdict);
  return all;
}

}  // namespace gdn
